import Foundation
import TarnStore
import TarnText

/// Converts a content with parts to a jsonb column and to the bytes that are kept beside it, and
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

  private static let escape = "$base64:"

  // MARK: - Writing

  /// The jsonb in its binary format, and what is kept beside it.
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
      return WireValue(
        Self.array(values.sorted { $0.text.lexicographicallyPrecedes($1.text) }))
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
      bytes += JSONText.bytes(.string(name(entry.key.text)))
      bytes.append(UInt8(ascii: ":"))
      bytes += entry.value.value.text
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// A key as a member's name: jsonb has no NUL.
  private static func name(_ key: String) -> String {
    guard key.utf8.contains(0) || key.hasPrefix(escape) else { return key }
    return escape + Data(key.utf8).base64EncodedString()
  }

  private static func key(_ name: String) -> String {
    guard name.hasPrefix(escape), let data = Data(base64Encoded: String(name.dropFirst(8))),
      let key = String(validating: data, as: UTF8.self)
    else { return name }
    return key
  }

  // MARK: - Reading

  /// - Parameter stamp: the column's. No part was written later: the server limits only this one.
  /// - Returns: the content; what is not of the kind is empty. Elements that a SQL program has
  ///   written are named by the stamp, with the author 0.
  func content(_ wire: WireValue?, at stamp: Stamp) -> Content<WireItem> {
    let json = Self.json(wire)
    switch kind {
    case .none:
      let item = items.item(json ?? .null)
      if item == .null { return .one(nil) }
      let known = wire?.exact.flatMap { ListNames($0, of: 1) }
      let name = (known ?? ListNames(of: 1, writtenAt: stamp)).elements[0]
      return .one(ListElement(name.id, item, min(name.stamp, stamp)))
    case .list:
      guard case .array(let list)? = json else { return .list([]) }
      let known = wire?.exact.flatMap { ListNames($0, of: list.count) }
      let names = known ?? ListNames(of: list.count, writtenAt: stamp)
      let elements = zip(list, names.elements).map {
        ListElement($1.id, items.item($0), min($1.stamp, stamp))
      }
      return .list(elements)
    case .set:
      guard case .array(let list)? = json else { return .set([]) }
      return .set(Set(list.map { items.item($0) }))
    case .map:
      guard case .object(let members)? = json else { return .map([:]) }
      let keys = members.map { StoredText(Self.key($0.name)) }
      let stamps = wire?.exact.flatMap { MapStamps.stamps($0, of: keys) }
      var entries: [StoredText: Stamped<WireItem>] = [:]
      for (key, member) in zip(keys, members) {
        entries[key] = Stamped(items.item(member.value), min(stamps?[key] ?? stamp, stamp))
      }
      return .map(entries)
    }
  }

  private static func json(_ wire: WireValue?) -> JSONValue? {
    guard let bytes = wire?.bytes.dropFirst() else { return nil }
    return try? JSONScanner.value(in: Array(bytes))
  }

  /// The content that a creation found.
  var empty: Content<WireItem> {
    switch kind {
    case .none: .one(nil)
    case .list: .list([])
    case .set: .set([])
    case .map: .map([:])
    }
  }
}
