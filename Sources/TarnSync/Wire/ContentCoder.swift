import Foundation
import TarnStore
import TarnText

/// Converts the content of a list, set or map to a jsonb column and to what is kept beside it, and
/// back.
struct ContentCoder: Sendable {
  let kind: CollectionKind
  let items: ItemCoder

  private static let escape = "$base64:"

  // MARK: - Writing

  /// The jsonb in its binary format, and what is kept beside it.
  func wire(_ content: Content<WireItem>) -> WireValue {
    switch content {
    case .single: trap("internal error: a single value has no parts")
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
  /// - Returns: the content, and whether its elements have the names that replicas gave them: a SQL
  ///   program gives none. What is not of the kind is empty.
  func content(
    _ wire: WireValue?, at stamp: Stamp
  ) -> (content: Content<WireItem>, isNamed: Bool) {
    let json = Self.json(wire)
    switch kind {
    case .none: trap("internal error: a single value has no parts")
    case .list:
      guard case .array(let list)? = json else { return (.list([]), true) }
      let known = wire?.exact.flatMap { ListNames($0, of: list.count) }
      let names = known ?? ListNames(of: list.count, writtenAt: stamp)
      let elements = zip(list, names.elements).map {
        ListElement($1.id, items.item($0), min($1.stamp, stamp))
      }
      return (.list(elements), known != nil || list.isEmpty)
    case .set:
      guard case .array(let list)? = json else { return (.set([]), true) }
      return (.set(Set(list.map { items.item($0) })), true)
    case .map:
      guard case .object(let members)? = json else { return (.map([:]), true) }
      let keys = members.map { StoredText(Self.key($0.name)) }
      let stamps = wire?.exact.flatMap { MapStamps.stamps($0, of: keys) }
      var entries: [StoredText: Stamped<WireItem>] = [:]
      for (key, member) in zip(keys, members) {
        entries[key] = Stamped(items.item(member.value), min(stamps?[key] ?? stamp, stamp))
      }
      return (.map(entries), true)
    }
  }

  /// The values of a property, and the keys of a map.
  func values(_ content: Content<WireItem>) -> (values: [Value], keys: [String]) {
    switch content {
    case .single: trap("internal error: a single value has no parts")
    case .list(let elements): (elements.map { items.value($0.content.value) }, [])
    case .set(let values): (values.map { items.value($0) }, [])
    case .map(let entries): (entries.map { items.value($0.value.value) }, entries.map(\.key.text))
    }
  }

  private static func json(_ wire: WireValue?) -> JSONValue? {
    guard let bytes = wire?.bytes.dropFirst() else { return nil }
    return try? JSONScanner.value(in: Array(bytes))
  }

  /// The content that a creation found.
  var empty: Content<WireItem> {
    switch kind {
    case .none: trap("internal error: a single value has no parts")
    case .list: .list([])
    case .set: .set([])
    case .map: .map([:])
    }
  }
}
