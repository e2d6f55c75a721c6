import TarnStore
import TarnText

/// Converts a content with parts to a jsonb column and to the bytes that are stored next to it, and
/// back.
struct ContentCoder: Sendable {
  /// `.none` for one embedded object or mixed value.
  let kind: CollectionKind
  let items: ItemCoder

  /// - Returns: nil for a property with one value without parts.
  init?(_ column: ColumnSchema, _ schema: StoreSchema) {
    let hasParts =
      column.collection != .none || column.type == .any
      || ItemCoder.embedded(column, schema) != nil
    guard hasParts else { return nil }
    kind = column.collection
    items = ItemCoder(schema: schema, column: column)
  }

  // MARK: - Writing

  /// The jsonb in its binary format, and the bytes stored next to it.
  func wire(_ content: Content<WireItem>) -> WireValue {
    switch content {
    case .single: trap("internal error: a single value has no parts")
    case .one(let element):
      guard let element else { return WireValue([Self.version] + WireItem.null.text) }
      return WireValue(
        [Self.version] + element.content.value.text,
        exact: ListNames([(element.id, element.content.stamp)]).bytes)
    case .list(let elements):
      let names = ListNames(elements.map { ($0.id, $0.content.stamp) })
      return WireValue(
        Self.array(elements.map(\.content.value)), exact: elements.isEmpty ? nil : names.bytes)
    case .set(let values):
      return WireValue(Self.array(values.sorted { $0.isBefore($1) }))
    case .map(let entries):
      let stamps = MapStamps.bytes(entries.map { ($0.key, $0.value.stamp) })
      return WireValue(Self.object(entries), exact: entries.isEmpty ? nil : stamps)
    }
  }

  /// The binary format of jsonb begins with its version.
  private static let version: UInt8 = 1

  private static func array(_ items: [WireItem]) -> [UInt8] {
    var bytes = [version, UInt8(ascii: "[")]
    for (place, item) in items.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += item.text
    }
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }

  private static func object(_ entries: [StoredText: Stamped<WireItem>]) -> [UInt8] {
    var bytes = [version, UInt8(ascii: "{")]
    let sorted = entries.sorted {
      $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8)
    }
    for (place, entry) in sorted.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += JSONText.bytes(.string(MapKey.name(entry.key.text)))
      bytes.append(UInt8(ascii: ":"))
      bytes += entry.value.value.text
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  // MARK: - Reading

  /// - Parameter stamp: the column's stamp. No part was written later: the server limits only this
  ///   one.
  /// - Returns: the content without values that the property cannot hold. Elements written by SQL
  ///   are named by the stamp, with the author 0.
  func content(_ wire: WireValue?, at stamp: Stamp) -> Content<WireItem> {
    var faults: [ValueFault] = []
    return content(wire, at: stamp, &faults) ?? empty
  }

  /// The content, with its faults.
  ///
  /// - Parameter faults: receives the values that the property cannot hold unchanged.
  /// - Returns: nil if the property can hold no part of it.
  func content(
    _ wire: WireValue?, at stamp: Stamp, _ faults: inout [ValueFault]
  ) -> Content<WireItem>? {
    let json: JSONValue
    do throws(JSONError) {
      json = try Self.json(wire) ?? .null
    } catch {
      faults.append(ValueFault("its JSON cannot be read: \(error.message)"))
      return nil
    }
    switch (kind, json) {
    case (.none, _):
      guard let item = items.item(json, &faults) else { return nil }
      if item == .null { return .one(nil) }
      guard let known = wire?.exact.flatMap({ ListNames($0, of: 1) })?.elements[0] else {
        let name = ListNames(of: 1, writtenAt: stamp).elements[0].id
        return .one(ListElement(name, item, stamp))
      }
      return .one(ListElement(known.id, item, min(known.stamp, stamp)))
    case (_, .null): return empty
    case (.list, .array(let list)):
      let known = wire?.exact.flatMap { ListNames($0, of: list.count) }
      let names = known ?? ListNames(of: list.count, writtenAt: stamp)
      var elements: [ListElement<WireItem>] = []
      elements.reserveCapacity(list.count)
      for (place, name) in names.elements.enumerated() {
        guard let item = item(list[place], at: place, &faults) else { continue }
        elements.append(ListElement(name.id, item, min(name.stamp, stamp)))
      }
      return .list(elements)
    case (.set, .array(let list)):
      var elements: [WireItem] = []
      for (place, json) in list.enumerated() {
        if let item = item(json, at: place, &faults) { elements.append(item) }
      }
      return .set(Set(SetForms(items.column)?.unified(elements) ?? elements))
    case (.map, .object(let members)): return .map(entries(members, wire, stamp, &faults))
    default:
      faults.append(.shape(json, kind))
      return nil
    }
  }

  private func item(
    _ json: JSONValue, at place: Int, _ faults: inout [ValueFault]
  ) -> WireItem? {
    let count = faults.count
    let item = items.item(json, &faults)
    faults.place("[\(place)]", since: count)
    return item
  }

  private func entries(
    _ members: [JSONMember], _ wire: WireValue?, _ stamp: Stamp, _ faults: inout [ValueFault]
  ) -> [StoredText: Stamped<WireItem>] {
    let keys = members.map { StoredText(MapKey.key($0.name)) }
    let stamps = wire?.exact.flatMap { MapStamps.stamps($0, of: keys) }
    var entries: [StoredText: Stamped<WireItem>] = [:]
    for (key, member) in zip(keys, members) {
      let count = faults.count
      if let item = items.item(member.value, &faults) {
        entries[key] = Stamped(item, min(stamps?[key] ?? stamp, stamp))
      }
      faults.place("[\"\(key.text)\"]", since: count)
    }
    return entries
  }

  private static func json(_ wire: WireValue?) throws(JSONError) -> JSONValue? {
    guard let bytes = wire?.bytes.dropFirst() else { return nil }
    return try JSONScanner.value(in: Array(bytes), keepingDigits: true)
  }

  /// The content at the creation of an object.
  var empty: Content<WireItem> {
    switch kind {
    case .none: .one(nil)
    case .list: .list([])
    case .set: .set([])
    case .map: .map([:])
    }
  }
}
