import TarnStore
import ToolSupport

/// A value as a file or a command line has it.
enum RawValue {
  case json(JSONValue)
  /// A field of text, nil where it is empty without quotes.
  case text(String?)

  var isNull: Bool {
    switch self {
    case .json(let value): value == .null
    case .text(let text): text == nil
    }
  }
}

/// A column that values are read for, be it in the file already or about to be added.
struct ColumnReading {
  let name: String
  let type: ColumnType
  let collection: CollectionKind
  /// Whether the value, or an element, may be null.
  let isOptional: Bool
  let target: ClassID?

  init(
    name: String, type: ColumnType, collection: CollectionKind = .none, isOptional: Bool
  ) {
    self.name = name
    self.type = type
    self.collection = collection
    self.isOptional = isOptional || type == .any
    target = nil
  }

  init(_ column: ColumnSchema) {
    name = column.name
    type = column.type
    collection = column.collection
    // A to-one link may always lead nowhere.
    isOptional =
      column.isOptional || column.type == .any
      || column.type == .link && column.collection == .none
    target = column.target
  }
}

/// Finds the targets of links in the write that is under way.
struct LinkFinder {
  let session: WriteSession

  init(_ session: WriteSession) { self.session = session }

  var schema: StoreSchema { session.schema.schema }

  func find(_ value: Value, in id: ClassID) throws -> ObjectKey? {
    if session.schema[id].primaryKey != nil { return try session.find(primaryKey: value, in: id) }
    guard case .int(let number) = value else { return nil }
    let key = ObjectKey(number)
    return try session.place(of: key, in: id) == nil ? nil : key
  }
}
