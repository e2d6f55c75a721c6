@testable import TarnStore

/// Everything that a source of rows says about a version, to be compared.
struct StoredState: Equatable {
  struct Slot: Hashable {
    var object: ObjectRef
    var column: ColumnID
    var nested: CollectionID?
    /// Of the keys of a map, or of those who link to the object.
    var what = ""
  }

  private(set) var slots: [Slot: [Value]] = [:]

  init(
    _ rows: Rows, _ schema: SchemaView, keys: (ClassID) throws -> [ObjectKey]
  ) throws {
    for described in schema.schema.classes {
      for key in try keys(described.id) {
        let object = ObjectRef(classID: described.id, key: key)
        for column in described.columns { try read(rows, column, object) }
        for link in schema.incoming(to: described.id) + schema.anyColumns {
          let origins = try rows.origins(of: object, in: link.origin, through: link.column)
          let what = "origins in \(link.origin.rawValue)"
          slots[Slot(object: object, column: link.column, what: what)] = origins.map { .link($0) }
        }
      }
    }
  }

  private mutating func read(
    _ rows: Rows, _ column: ColumnSchema, _ object: ObjectRef
  ) throws {
    let place = SequencePlace(classID: object.classID, key: object.key, column: column.id)
    if column.collection != .none { return try readElements(rows, place, object) }
    let found = try rows.withRow(object.classID, object.key) {
      cluster, slot throws(StorageError) -> Value in
      if let value = try cluster.value(column, slot) { return value }
      return try rows.withLongValue(object.classID, object.key, column.id) {
        bytes throws(StorageError) in try Value(cell: bytes, of: column)
      }
    }
    guard let value = found else { return }
    slots[Slot(object: object, column: column.id)] = [value]
    if let nested = value.collection { try readElements(rows, place.nested(nested), object) }
  }

  private mutating func readElements(
    _ rows: Rows, _ place: SequencePlace, _ object: ObjectRef
  ) throws {
    var (values, keys): ([Value], [Value]) = ([], [])
    try rows.forEachElement(of: place) { value in
      values.append(value)
      return true
    }
    var slot = Slot(object: object, column: place.column, nested: place.nested)
    slots[slot] = values
    if try rows.element(of: place, at: .position(0)) == nil, !values.isEmpty {
      try rows.forEachKey(of: place) { key in
        keys.append(.string(key))
        return true
      }
      slot.what = "keys"
      slots[slot] = keys
    }
    for value in values {
      if let nested = value.collection { try readElements(rows, place.nested(nested), object) }
    }
  }

  /// The same with the contents of nested lists and maps in place of their ids, which are new when
  /// a value is put back.
  func withoutIDs() throws -> [Slot: [CopiedValue]] {
    var parts: [CollectionID: SequenceParts] = [:]
    for (slot, values) in slots {
      guard let nested = slot.nested else { continue }
      if slot.what.isEmpty {
        parts[nested, default: SequenceParts()].values = values
      } else {
        parts[nested, default: SequenceParts()].keys = values.map(\.description)
      }
    }
    return try slots.filter { $0.key.nested == nil }.mapValues { values in
      try CopiedValue.copies(values) { id in parts[id] }
    }
  }

  /// Where the states differ, in a few words.
  func differences(from other: StoredState) -> String {
    let all = Set(slots.keys).union(other.slots.keys)
    let different = all.filter { slots[$0] != other.slots[$0] }
    return different.prefix(3).map { slot in
      func short(_ values: [Value]?) -> String { String("\(values ?? [])".prefix(300)) }
      return "class \(slot.object.classID.rawValue) object \(slot.object.key.rawValue) column "
        + "\(slot.column.rawValue) \(slot.nested.map { "nested \($0.rawValue)" } ?? "") "
        + "\(slot.what): \(short(slots[slot])) instead of \(short(other.slots[slot]))"
    }.joined(separator: "\n")
  }
}
