package import Tarn
package import TarnStore
package import TarnText

/// Writes recorded values as JSON, in the form that an import reads.
package struct RecordedJSON {
  package let schema: StoreSchema
  /// The columns that are written besides the primary key; nil for all.
  private let columns: ChosenColumns?

  package init(schema: StoreSchema, columns: ChosenColumns? = nil) {
    self.schema = schema
    self.columns = columns
  }

  /// The values of an object of a class, in the order of its columns.
  package func object(_ values: [String: RecordedValue], of described: ClassSchema) -> JSONValue {
    .object(
      described.shownColumns.compactMap { column in
        guard let value = values[column.name], writes(column, of: described) else { return nil }
        return JSONMember(column.name, property(value, column))
      })
  }

  /// Whether a property of the objects is written.
  package func writes(_ column: ColumnSchema, of described: ClassSchema) -> Bool {
    if column.isRemoved { return false }
    return column.id == described.primaryKey || columns == nil
      || columns?.within(column.name) != nil
  }

  /// The value of a property of the objects.
  package func property(_ value: RecordedValue, _ column: ColumnSchema) -> JSONValue {
    let whole = json(value, column)
    return columns?.within(column.name)?.part(of: whole, column, schema) ?? whole
  }

  private func json(_ value: RecordedValue, _ column: ColumnSchema) -> JSONValue {
    if case .dictionary(let items) = value, column.collection == .map {
      // The column says that it is a map, so its keys need no check.
      return .object(members(items, column))
    }
    return element(value, column)
  }

  private func element(_ value: RecordedValue, _ column: ColumnSchema) -> JSONValue {
    switch value {
    case .list(let items), .set(let items): return .array(items.map { element($0, column) })
    case .dictionary(let items): return MixedJSON.map(members(items, column))
    case .embedded(let values):
      guard let described = column.target.flatMap({ schema[$0] }) else { return .null }
      return .object(
        described.shownColumns.compactMap { column in
          guard !column.isRemoved, let value = values[column.name] else { return nil }
          return JSONMember(column.name, json(value, column))
        })
    case .object(let identity):
      let name = Self.name(of: identity)
      return column.type == .any ? MixedJSON.link(to: identity.className, name) : name
    default:
      let stored = value.storedValue ?? .null
      return column.type == .any ? MixedJSON.any(scalar: stored) : ValueText.json(stored)
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
  package static func name(of identity: ObjectIdentity) -> JSONValue {
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

extension RecordedJSON {
  /// The changes of a class, as members of the object that is open.
  package func write(
    _ changes: [RecordedChange], of described: ClassSchema, to json: inout JSONText
  ) {
    for kind in RecordedChange.Kind.allCases {
      let ofKind = changes.filter { $0.kind == kind }
      if ofKind.isEmpty { continue }
      json.key(kind.rawValue)
      json.beginArray()
      for change in ofKind { write(change, described, to: &json) }
      json.endArray()
    }
  }

  /// A change as an object.
  package func write(
    _ change: RecordedChange, _ described: ClassSchema, to json: inout JSONText
  ) {
    json.beginObject()
    json.key("key")
    json.value(Self.name(of: change.identity))
    if !change.properties.isEmpty {
      json.key("properties")
      json.value(.array(change.properties.map { .string($0) }))
    }
    if !change.oldValues.isEmpty {
      json.key("old")
      json.value(object(change.oldValues, of: described))
    }
    if let values = change.values {
      json.key("new")
      json.value(object(values, of: described))
    }
    json.endObject()
  }
}
