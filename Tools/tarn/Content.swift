import TarnStore
import TarnText
import ToolSupport

/// A property's value and everything nested in it: lists, sets, maps, lists and maps within mixed
/// values, embedded objects.
enum Content {
  /// A single value, never a list or map. A link is its target's key.
  case value(Value)
  /// Elements in their order: a list's or a set's.
  case list([Content])
  /// Keys and their values in the order of the keys.
  case map([Pair])
  /// An embedded object, by its columns.
  case object([Part])

  struct Pair {
    var key: String
    var value: Content
  }

  struct Part {
    var column: ColumnID
    var content: Content
  }

  /// True if both are bitwise equal. Columns that only `other` has are ignored.
  func isSame(as other: Content) -> Bool {
    switch (self, other) {
    case (.value(let a), .value(let b)):
      return a == b
    case (.list(let a), .list(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
    case (.map(let a), .map(let b)):
      return a.count == b.count
        && zip(a, b).allSatisfy {
          SequenceOrder.compare($0.key, $1.key) == 0 && $0.value.isSame(as: $1.value)
        }
    case (.object(let a), .object(let b)):
      return a.allSatisfy { field in
        b.contains { $0.column == field.column && field.content.isSame(as: $0.content) }
      }
    default:
      return false
    }
  }
}

extension ColumnSchema {
  /// Whether the column can hold more than a single simple value.
  func mayHaveParts(_ schema: SchemaView) -> Bool {
    collection != .none || type == .any || target.map(schema.isEmbedded) == true
  }
}

/// The nested values found so far while one property is read. Each list, set, map and embedded
/// object has one owner. In a damaged file that refers to some twice on each level, reading would
/// never end.
private struct MetContents {
  /// The deepest nesting that is read. Deeper values could not be imported again.
  private static let depthMax = 200

  private var collections: Set<CollectionID> = []
  private var objects: Set<ObjectRef> = []
  /// What stands for an embedded object that is lost.
  let substitute: (ObjectRef) throws -> Content

  init(_ substitute: @escaping (ObjectRef) throws -> Content = Self.refuse) {
    self.substitute = substitute
  }

  private static func refuse(_ object: ObjectRef) throws -> Content {
    throw ToolError("the file is damaged: an embedded object is missing")
  }

  mutating func take(_ place: SequencePlace, _ column: ColumnSchema, _ depth: Int) throws {
    if let id = place.nested, !collections.insert(id).inserted { throw twice(column) }
    try check(depth, column)
  }

  mutating func take(_ object: ObjectRef, _ column: ColumnSchema, _ depth: Int) throws {
    if !objects.insert(object).inserted { throw twice(column) }
    try check(depth, column)
  }

  private func check(_ depth: Int, _ column: ColumnSchema) throws {
    guard depth > Self.depthMax else { return }
    throw ToolError("'\(column.name)' holds values more than \(Self.depthMax) deep")
  }

  private func twice(_ column: ColumnSchema) -> ToolError {
    ToolError("the file is damaged: '\(column.name)' refers to one thing twice")
  }
}

extension Rows {
  /// The value of an object's property; null if the object does not exist.
  func content(
    of column: ColumnSchema, at key: ObjectKey, in id: ClassID
  ) throws -> Content {
    var met = MetContents()
    return try content(of: column, at: key, in: id, 0, &met)
  }

  /// The same of a damaged file.
  ///
  /// - Parameter substitute: what stands for an embedded object that is lost.
  func content(
    of column: ColumnSchema, at key: ObjectKey, in id: ClassID,
    substituting substitute: @escaping (ObjectRef) throws -> Content
  ) throws -> Content {
    var met = MetContents(substitute)
    return try content(of: column, at: key, in: id, 0, &met)
  }

  /// The content for a stored value at that place.
  func content(
    _ value: Value, _ column: ColumnSchema, _ place: SequencePlace
  ) throws -> Content {
    var met = MetContents()
    return try content(value, column, place, 0, &met)
  }

  private func content(
    of column: ColumnSchema, at key: ObjectKey, in id: ClassID, _ depth: Int,
    _ met: inout MetContents
  ) throws -> Content {
    let place = SequencePlace(classID: id, key: key, column: column.id)
    if column.collection != .none {
      return try content(at: place, column, isMap: column.collection == .map, depth, &met)
    }
    return try content(
      value(of: column.id, at: key, in: id) ?? .null, column, place, depth, &met)
  }

  private func content(
    _ value: Value, _ column: ColumnSchema, _ place: SequencePlace, _ depth: Int,
    _ met: inout MetContents
  ) throws -> Content {
    switch value {
    case .list(let nested):
      return try content(at: place.nested(nested), column, isMap: false, depth + 1, &met)
    case .map(let nested):
      return try content(at: place.nested(nested), column, isMap: true, depth + 1, &met)
    case .link(let key):
      guard let target = column.target, schema.isEmbedded(target) else { return .value(value) }
      let object = ObjectRef(classID: target, key: key)
      try met.take(object, column, depth)
      guard try contains(object) else { return try met.substitute(object) }
      return .object(
        try schema[target].shownColumns.map { field in
          Content.Part(
            column: field.id,
            content: try content(of: field, at: key, in: target, depth + 1, &met))
        })
    default: return .value(value)
    }
  }

  private func content(
    at place: SequencePlace, _ column: ColumnSchema, isMap: Bool, _ depth: Int,
    _ met: inout MetContents
  ) throws -> Content {
    try met.take(place, column, depth)
    guard let sequence = try sequence(at: place) else {
      // The object does not exist, or a nested collection has no elements.
      return place.nested == nil ? .value(.null) : isMap ? .map([]) : .list([])
    }
    func element(_ index: Int) throws -> Content {
      try content(sequence.value(at: index), column, place, depth + 1, &met)
    }
    let positions = 0..<sequence.count
    return isMap
      ? .map(
        try positions.map { Content.Pair(key: try sequence.key(at: $0), value: try element($0)) })
      : .list(try positions.map(element))
  }
}
