import TarnStore
import TarnText

/// Writes elements of the server into properties with parts.
struct LocalWriter {
  let session: WriteSession

  private var schema: StoreSchema { session.schema.schema }

  /// Whether an element is a link whose target is missing here.
  func isWaiting(_ json: JSONValue, _ column: ColumnSchema) throws(StorageError) -> Bool {
    guard let target = LinkTarget(json, column, schema) else { return false }
    return try session.find(primaryKey: target.key, in: target.id) == nil
  }

  /// An element for the file; links to objects that are missing here are nil. Not for embedded
  /// objects.
  func copy(_ json: JSONValue, _ column: ColumnSchema) throws(StorageError) -> CopiedValue {
    if let target = LinkTarget(json, column, schema) {
      guard let key = try session.find(primaryKey: target.key, in: target.id) else {
        return .value(.null)
      }
      return .value(column.type == .any ? .object(target.id, key) : .link(key))
    }
    guard column.type == .any else {
      let value = ScalarCoder.value(json, as: column.type)
      let absent: Value = column.isOptional || column.type == .link ? .null : column.type.zero
      return .value(value.flatMap { $0 == .null ? nil : $0 } ?? absent)
    }
    switch json {
    case .array(let items):
      var copies: [CopiedValue] = []
      for item in items { copies.append(try copy(item, column)) }
      return .list(copies)
    case .object:
      if let members = MixedJSON.members(ofMap: json) { return try map(members, column) }
    default: break
    }
    return .value(ScalarCoder.value(json, as: .any) ?? .null)
  }

  private func map(
    _ members: [JSONMember], _ column: ColumnSchema
  ) throws(StorageError) -> CopiedValue {
    var copies: [CopiedValue] = []
    for member in members { copies.append(try copy(member.value, column)) }
    return .map(keys: members.map { MapKey.key($0.name) }, values: copies)
  }

  // MARK: - Single values

  /// Sets a mixed value, with as few changes as possible.
  ///
  /// - Returns: whether it changed.
  func set(_ copy: CopiedValue, at place: SequencePlace) throws(StorageError) -> Bool {
    if try session.holds(copy, at: place) { return false }
    let (id, key) = (place.classID, place.key)
    if let now = try session.value(of: place.column, at: key, in: id),
      let isChanged = try session.assign(copy, over: now, at: place)
    {
      return isChanged
    }
    return try session.set(
      place.column, at: key, in: id, to: session.make(copy, in: place))
  }

  // MARK: - Embedded objects

  /// Creates an embedded object, which must then get an owner.
  func make(_ json: JSONValue, _ id: ClassID) throws(StorageError) -> ObjectKey {
    let key = try session.create([:], in: id)
    _ = try update(key, id, json)
    return key
  }

  /// Changes an embedded object.
  ///
  /// - Returns: whether it changed.
  func update(_ key: ObjectKey, _ id: ClassID, _ json: JSONValue) throws(StorageError) -> Bool {
    var isChanged = false
    for column in session.schema[id].columns where !column.isRemoved {
      guard let member = json[column.name] else { continue }
      let place = SequencePlace(classID: id, key: key, column: column.id)
      if try setProperty(member, column, place) { isChanged = true }
    }
    return isChanged
  }

  private func setProperty(
    _ json: JSONValue, _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> Bool {
    if let embedded = ItemCoder.embedded(column, schema) {
      return try setEmbedded(json, embedded, column, place)
    }
    switch (column.collection, json) {
    case (.none, _): return try set(copy(json, column), at: place)
    case (.map, .object(let members)):
      var copies: [CopiedValue] = []
      for member in members { copies.append(try copy(member.value, column)) }
      return try session.assign(copies, keys: members.map { MapKey.key($0.name) }, in: place)
    case (_, .array(let items)):
      var copies: [CopiedValue] = []
      for item in items {
        if column.omitsMissingLinks, try isWaiting(item, column) { continue }
        copies.append(try copy(item, column))
      }
      return try session.assign(copies, keys: [], in: place)
    default: return false
    }
  }

  /// The embedded objects within an embedded object have no names: the first one stays the first.
  private func setEmbedded(
    _ json: JSONValue, _ embedded: ClassSchema, _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> Bool {
    var elements: [(key: String, json: JSONValue)] = []
    switch json {
    case .array(let items): elements = items.map { ("", $0) }
    case .object(let members) where column.collection == .map:
      elements = members.map { (MapKey.key($0.name), $0.value) }
    case .object: elements = [("", json)]
    default: break
    }
    let present = try embeddedKeys(column, place)
    var (keys, isChanged): ([ObjectKey?], Bool) = ([], false)
    for (index, element) in elements.enumerated() {
      let known =
        column.collection == .map
        ? present.first { $0.name.hasSameBytes(as: element.key) }?.key
        : index < present.count ? present[index].key : nil
      let (key, differs) = try written(element.json, over: known, embedded.id)
      keys.append(key)
      isChanged = isChanged || differs
    }
    return try hold(keys, named: elements.map(\.key), column, place) || isChanged
  }

  /// An embedded object in its new state; nil for null.
  func written(
    _ json: JSONValue, over known: ObjectKey?, _ id: ClassID
  ) throws(StorageError) -> (key: ObjectKey?, isChanged: Bool) {
    guard case .object = json else { return (nil, false) }
    if let known { return (known, try update(known, id, json)) }
    return (try make(json, id), true)
  }

  /// The embedded objects of a property; nil for nil in a map.
  func embeddedKeys(
    _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> [(name: String, key: ObjectKey?)] {
    func key(_ value: Value) -> ObjectKey? { column.linkTarget(of: value)?.key }
    if column.collection == .none {
      let value = try session.value(of: place.column, at: place.key, in: place.classID)
      return value.flatMap(key).map { [("", $0)] } ?? []
    }
    let parts = try session.sequence(at: place)?.parts() ?? SequenceParts()
    let names = column.collection == .map ? parts.keys : parts.values.map { _ in "" }
    return zip(names, parts.values).map { ($0, key($1)) }
  }

  /// Makes a property own these embedded objects.
  func hold(
    _ keys: [ObjectKey?], named names: [String], _ column: ColumnSchema, _ place: SequencePlace
  ) throws(StorageError) -> Bool {
    let values = keys.map { $0.map { Value.link($0) } ?? .null }
    if column.collection == .none {
      return try set(.value(values.first ?? .null), at: place)
    }
    let isMap = column.collection == .map
    return try session.assign(
      values.map { .value($0) }, keys: isMap ? names : [], in: place)
  }
}
