import Tarn
import TarnStore
import ToolSupport

/// Writes recorded values as JSON, in the form of `ContentJSON`.
struct RecordedJSON {
  let schema: StoreSchema

  /// The values of an object of a class, in the order of its columns.
  func object(_ values: [String: RecordedValue], of described: ClassSchema) -> JSONValue {
    .object(
      described.columns.compactMap { column in
        guard !column.isRemoved, let value = values[column.name] else { return nil }
        return JSONMember(column.name, property(value, column))
      })
  }

  /// The value of a property.
  func property(_ value: RecordedValue, _ column: ColumnSchema) -> JSONValue {
    if case .dictionary(let items) = value, column.collection == .map {
      // The column says that it is a map, so its keys need no check.
      return .object(members(items, column))
    }
    return element(value, column)
  }

  private func element(_ value: RecordedValue, _ column: ColumnSchema) -> JSONValue {
    switch value {
    case .list(let items), .set(let items): return .array(items.map { element($0, column) })
    case .dictionary(let items):
      let members = members(items, column)
      let isAmbiguous = items[ContentJSON.typeKey] != nil
      return isAmbiguous ? ContentJSON.typed("map", .object(members)) : .object(members)
    case .embedded(let values):
      guard let described = column.target.flatMap({ schema[$0] }) else { return .null }
      return object(values, of: described)
    case .object(let identity):
      let name = Self.name(of: identity)
      return column.type == .any ? ContentJSON.link(to: identity.className, name) : name
    default:
      let stored = value.storedValue ?? .null
      return column.type == .any ? ContentJSON.any(scalar: stored) : ValueText.json(stored)
    }
  }

  private func members(
    _ items: [String: RecordedValue], _ column: ColumnSchema
  ) -> [JSONMember] {
    items.sorted { SequenceOrder.compare($0.key, $1.key) < 0 }.map {
      JSONMember($0.key, element($0.value, column))
    }
  }

  /// The object's primary key, or its object key if the class has none or if it is not known.
  static func name(of identity: ObjectIdentity) -> JSONValue {
    switch identity.primaryKey {
    case nil: .integer(identity.objectKey)
    case .null: .null
    case .int(let number): .integer(Int64(number))
    case .string(let text): .string(text)
    case .objectId(let id): .string(id.stringValue)
    case .uuid(let id): .string(id.uuidString.lowercased())
    }
  }
}
