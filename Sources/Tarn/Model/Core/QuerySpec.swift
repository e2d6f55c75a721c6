import TarnStore

/// The query of a collection, in the program's words. Collections with equal queries share their
/// rows.
struct QuerySpec: Hashable {
  let type: ObjectBase.Type
  /// The class's name in the file, for dynamic objects.
  var dynamicClass: String?
  var predicate: Predicate = .constant(true)
  var order: [SortDescriptor] = []
  /// The operations on the rows in that order.
  var stages: [Stage] = []
  /// The collection of an object that is queried; nil for all objects of the class.
  var origin: ElementsOrigin? {
    get { rare?.origin }
    set { rare = Rare(newValue, values) }
  }
  /// The query of a collection of values; nil for objects.
  var values: ValueQuery? {
    get { rare?.values }
    set { rare = Rare(origin, newValue) }
  }
  /// The positions of the result that are shown; nil for all.
  var window: Range<Int>?
  private var rare: Rare?

  /// Parts that few queries have, elsewhere in memory.
  private final class Rare: Sendable {
    let origin: ElementsOrigin?
    let values: ValueQuery?

    init?(_ origin: ElementsOrigin?, _ values: ValueQuery?) {
      if origin == nil, values == nil { return nil }
      self.origin = origin
      self.values = values
    }
  }

  /// Only the first object of each group of equal ones stays; those may be put into another order.
  struct Stage: Hashable {
    var keyPaths: [String]
    var order: [SortDescriptor] = []
  }

  init(_ type: ObjectBase.Type) { self.type = type }

  /// The elements of a collection of values.
  init(_ values: ValueQuery, at place: SequencePlace) {
    type = ObjectBase.self
    self.values = values
    origin = .sequence(place)
  }

  init(dynamicClass name: String) {
    type = DynamicObject.self
    dynamicClass = name
  }

  func filtered(_ more: Predicate) -> QuerySpec {
    var spec = self
    spec.predicate = predicate == .constant(true) ? more : predicate && more
    return spec
  }

  func sorted(_ descriptors: [SortDescriptor]) -> QuerySpec {
    var spec = self
    if stages.isEmpty {
      spec.order = descriptors
    } else {
      spec.stages[stages.count - 1].order = descriptors
    }
    return spec
  }

  func distinct(_ keyPaths: [String]) -> QuerySpec {
    var spec = self
    spec.stages.append(Stage(keyPaths: keyPaths))
    return spec
  }

  /// - Parameter range: positions within this query's result.
  func windowed(_ range: Range<Int>) -> QuerySpec {
    var spec = self
    let shown = window ?? 0..<Int.max
    let rest = shown.upperBound - shown.lowerBound
    let part = range.clamped(to: 0..<rest)
    spec.window = shown.lowerBound + part.lowerBound..<shown.lowerBound + part.upperBound
    return spec
  }

  /// The order of the result, in the file's words; none if `distinct` was applied after the last
  /// sort.
  var orderTerms: [OrderTerm] { terms(stages.last?.order ?? order) }

  /// The order before anything else is done to the rows.
  var firstOrderTerms: [OrderTerm] { terms(order) }

  var distinctTerms: [DistinctTerm] {
    stages.map { DistinctTerm($0.keyPaths.map { path(Path(text: $0)) }, order: terms($0.order)) }
  }

  private func terms(_ order: [SortDescriptor]) -> [OrderTerm] {
    order.map {
      OrderTerm(
        path: path(Path(text: $0.keyPath)), isAscending: $0.ascending,
        collation: $0.collation.store)
    }
  }

  /// The same as `path`, for texts as in `PathText`.
  func columnPath(_ text: String) -> String {
    PathText.text(of: path(Path(text: text)).map { $0.propertyName ?? $0.description })
  }

  /// A path with the names of columns in the file instead of properties.
  func path(_ path: Path) -> Path {
    var owner: ObjectBase.Type? = type
    return path.map { step in
      switch step {
      // A step into a collection leads to an element of it.
      case .element: return step
      case .backlinks, .keys, .values:
        owner = nil
        return step
      case .property(let name):
        let reflection = owner.map { ClassReflection.of($0) }
        let property =
          reflection?.property(name) ?? reflection?.properties.first { $0.columnName == name }
        owner = property?.target
        return property?.pathStep ?? step
      }
    }
  }

  static func == (a: QuerySpec, b: QuerySpec) -> Bool {
    a.type == b.type && a.dynamicClass == b.dynamicClass && a.predicate == b.predicate
      && a.order == b.order && a.stages == b.stages && a.origin == b.origin
      && a.values == b.values && a.window == b.window
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
    hasher.combine(dynamicClass)
    hasher.combine(predicate)
    hasher.combine(order)
    hasher.combine(stages)
    hasher.combine(origin)
    hasher.combine(values)
    hasher.combine(window)
  }
}

/// Identifies sections by a property by their parts; equal ones are shared.
struct SectionsName: Hashable {
  let spec: QuerySpec
  let keyPath: AnyKeyPath
}

/// A property to sort by.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The property's path, with dots through links. A name that has dots itself is in back quotes.
  public let keyPath: String
  /// Smallest first.
  public let ascending: Bool
  /// The order of strings. For a property that is not a string, results trap for any but `bytes`.
  public let collation: Collation

  /// Sorts by the property at a path of names, such as `mother.age`.
  public init(keyPath: String, ascending: Bool = true, collation: Collation = .bytes) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.collation = collation
  }

  /// Sorts by the property at a path of names, smallest first.
  public init(stringLiteral keyPath: String) { self.init(keyPath: keyPath) }

  /// The same property in the opposite order.
  public func reversed() -> SortDescriptor {
    SortDescriptor(keyPath: keyPath, ascending: !ascending, collation: collation)
  }
}

extension SortDescriptor: CustomStringConvertible {
  /// The key path and the direction, and the collation if it is not `bytes`.
  public var description: String {
    let direction = ascending ? "ascending" : "descending"
    let order = collation == .bytes ? "" : ", collation: \(collation)"
    return "SortDescriptor(keyPath: \(keyPath), direction: \(direction)\(order))"
  }
}

/// The order of strings in a ``SortDescriptor``.
///
///     dogs.sorted(by: \.name, collation: .localized(Locale(identifier: "sv")))
///
/// It affects sorting only. Objects are stored, found and compared byte by byte, so an index gives
/// no order but that of bytes, and any other order takes a sort. Objects whose strings are equal
/// under a collation are ordered by the next sort key, then by the bytes of the strings, then like
/// equal objects.
public struct Collation: Hashable, Sendable {
  let store: TarnStore.Collation

  /// Byte by byte as UTF-8: "Z" before "a", and "z" before "ä". The default.
  public static let bytes = Collation(store: .bytes)
  /// Ignores case, by the case folding of Unicode, independent of any language: "a", "B", "ä".
  public static let caseInsensitive = Collation(store: .ignoring(.caseInsensitive))
}

/// The query of results of a list, set or map of values: an order, and whether repeats are removed.
struct ValueQuery: Hashable {
  let kind: CollectionKind
  /// The property that holds the elements.
  let property: PropertyReflection
  /// Whether the smallest value comes first; nil for the order of the collection.
  var ascending: Bool?
  var isDistinct = false

  // A place has exactly one property.
  static func == (a: ValueQuery, b: ValueQuery) -> Bool {
    a.kind == b.kind && a.ascending == b.ascending && a.isDistinct == b.isDistinct
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ascending)
    hasher.combine(isDistinct)
  }
}

/// Identifies groups of rows by their parts; equal ones are shared.
struct GroupsName: Hashable {
  let spec: QuerySpec
  /// The property that rows are grouped by, in the file's words; nil for one group of all rows.
  let key: Path?
  let terms: [AggregateTerm]
}
