/// The elements of a list, set or map, and the resulting form of its pages.
///
/// All three are stored as a *sequence* of elements. A set's are sorted by value, a map's by key.
package struct SequenceShape: Hashable, Sendable {
  /// A sequence cannot have more elements; a file that says so is damaged.
  static let countMax = 1 << 48

  package let kind: CollectionKind
  /// The type of the elements; for a map of the values.
  package let type: ColumnType
  package let isOptional: Bool

  /// - Precondition: the column is a collection.
  package init(_ column: ColumnSchema) {
    self.init(column.collection, of: column.type, isOptional: column.isOptional)
  }

  package init(_ kind: CollectionKind, of type: ColumnType, isOptional: Bool) {
    require(kind != .none, "a collection must have a kind")
    self.kind = kind
    self.type = type
    self.isOptional = isOptional
  }

  /// A list or map nested in a mixed value.
  package static func nested(_ kind: CollectionKind) -> SequenceShape {
    SequenceShape(kind, of: .any, isOptional: true)
  }

  package var isMap: Bool { kind == .map }

  /// Elements without a fixed width include their type.
  var isTagged: Bool { type == .string || type == .data || type == .any }

  /// The elements are numbers or links without null, and nothing else is stored with them.
  var holdsNumbers: Bool { (type == .int || type == .link) && !isOptional && !isMap }

  /// Elements may link to objects, or be collections.
  var mayRefer: Bool { type == .link || type == .any }

  /// Elements, or a map's keys, may be too long for a page.
  var mayBeLong: Bool { isTagged || isMap }

  var keyColumn: ColumnID { ColumnID(0) }
  var valueColumn: ColumnID { ColumnID(isMap ? 1 : 0) }

  /// The pages are images of clusters of this class, which is in no schema.
  var pages: ClassSchema {
    Self.pages[Int(type.rawValue) << 2 | (isOptional ? 2 : 0) | (isMap ? 1 : 0)]
  }

  private static let pages: [ClassSchema] = (0..<(16 * 4)).map { index in
    let type = ColumnType(rawValue: UInt8(index >> 2)) ?? .data
    let isTagged = type == .string || type == .data || type == .any
    let isOptional = index & 2 != 0 && !isTagged
    var columns: [ColumnSchema] = []
    if index & 1 != 0 { columns.append(ColumnSchema(id: ColumnID(0), name: "key", type: .data)) }
    columns.append(
      ColumnSchema(
        id: ColumnID(UInt16(columns.count)), name: "value", type: isTagged ? .data : type,
        isOptional: isOptional))
    return ClassSchema(id: ClassID(.max), name: "a collection", columns: columns)
  }

  /// True if an element can have that value.
  package func accepts(_ value: Value) -> Bool {
    switch (value, type) {
    case (.null, .any): true
    case (.null, _): isOptional
    case (.link, .any): false
    case (.list, .any), (.map, .any): kind != .set
    case (_, .any): true
    case (.int, .int), (.bool, .bool), (.string, .string), (.data, .data), (.date, .date),
      (.float, .float), (.double, .double), (.link, .link), (.objectID, .objectID),
      (.decimal, .decimal), (.uuid, .uuid):
      true
    default: false
    }
  }

  func accepts(_ element: TaggedValue) -> Bool {
    switch element {
    case .value(let value): accepts(value)
    case .long(_, _, let isString): type == .any || type == (isString ? .string : .data)
    }
  }

  static func damaged(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read collection", path: "",
      detail: "A collection is damaged: \(detail).")
  }
}

/// Elements in memory, in the form of the file: long ones may be references. A map has as many keys
/// as values, a list or set none.
struct SequenceElements: Equatable {
  var keys: ContiguousArray<TaggedValue> = []
  var values = ElementValues()

  var count: Int { values.count }
}

extension TaggedValue {
  /// A longer string or data value is stored in pieces.
  static let inlineBytesMax = 200

  /// True if the value must be stored elsewhere.
  var isTooLong: Bool {
    switch self {
    case .value(.string(let text)): text.utf8.count > Self.inlineBytesMax
    case .value(.data(let bytes)): bytes.count > Self.inlineBytesMax
    case .value, .long: false
    }
  }

  /// True for values with bytes or elements outside of the page.
  var isOutside: Bool {
    switch self {
    case .long, .value(.list), .value(.map): true
    case .value: isTooLong
    }
  }
}
