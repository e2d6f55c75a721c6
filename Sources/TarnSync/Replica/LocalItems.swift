import TarnStore
import TarnText

/// The elements of a property at one version.
struct LocalElements {
  var items: [WireItem] = []
  /// The keys of a map; empty otherwise.
  var keys: [String] = []
}

/// Reads the values of properties with parts as exchanged elements.
struct LocalItems {
  let rows: PastRows

  /// - Parameter place: the place of a property with one value, a list, a set or a map.
  func elements(of place: SequencePlace) throws(StorageError) -> LocalElements {
    let column = rows.schema[place.classID][place.column]
    var found = LocalElements()
    if column.collection == .none {
      let value = try rows.value(of: place.column, at: place.key, in: place.classID) ?? .null
      if value == .null { return found }
      found.items = [WireItem(try json(value, column, place))]
      return found
    }
    let parts = try rows.sequence(at: place)?.parts() ?? SequenceParts()
    for value in parts.values { found.items.append(WireItem(try json(value, column, place))) }
    found.keys = parts.keys
    return found
  }

  private func json(
    _ value: Value, _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> JSONValue {
    switch value {
    case .null: return .null
    case .list(let id):
      return .array(try nested(place.nested(id), column).values)
    case .map(let id):
      let (values, keys) = try nested(place.nested(id), column)
      return ItemCoder.map(zip(keys, values).map { JSONMember(MapKey.name($0), $1) })
    default: break
    }
    guard let target = column.linkTarget(of: value) else {
      return ScalarCoder.json(value, as: column.type)
    }
    if rows.schema.isEmbedded(target.classID) { return try object(target) }
    return try link(to: target, isMixed: column.type == .any)
  }

  private func nested(
    _ place: SequencePlace, _ column: ColumnSchema
  ) throws(StorageError) -> (values: [JSONValue], keys: [String]) {
    let parts = try rows.sequence(at: place)?.parts() ?? SequenceParts()
    var values: [JSONValue] = []
    for value in parts.values { values.append(try json(value, column, place)) }
    return (values, parts.keys)
  }

  /// A link as its target's primary key.
  private func link(to target: ObjectRef, isMixed: Bool) throws(StorageError) -> JSONValue {
    let described = rows.schema[target.classID]
    guard let key = described.primaryKey, let value = try rows.primaryKey(of: target) else {
      return .null
    }
    let name = ScalarCoder.json(value, as: described[key].type)
    return isMixed ? MixedJSON.link(to: described.name, name) : name
  }

  /// An embedded object.
  private func object(_ object: ObjectRef) throws(StorageError) -> JSONValue {
    var members: [JSONMember] = []
    for column in rows.schema[object.classID].columns where !column.isRemoved {
      let place = SequencePlace(
        classID: object.classID, key: object.key, column: column.id)
      members.append(JSONMember(column.name, try property(place, column)))
    }
    return ItemCoder.sorted(members)
  }

  private func property(
    _ place: SequencePlace, _ column: ColumnSchema
  ) throws(StorageError) -> JSONValue {
    let elements = try elements(of: place)
    let values = elements.items.map(\.json)
    switch column.collection {
    case .none: return values.first ?? .null
    case .list: return .array(values)
    case .set: return ItemCoder.set(values)
    case .map:
      return ItemCoder.sorted(
        zip(elements.keys, values).map { JSONMember(MapKey.name($0), $1) })
    }
  }
}
