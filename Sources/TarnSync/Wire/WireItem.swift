import TarnStore
import TarnText

/// An element of a list or set, or a value of a map, as the text of its JSON. Equal elements have
/// the same text.
struct WireItem: Hashable, Sendable {
  let text: [UInt8]

  init(_ json: JSONValue) { text = JSONText.bytes(json) }

  /// The order of elements in a set.
  func isBefore(_ other: WireItem) -> Bool { text.lexicographicallyPrecedes(other.text) }

  /// No element, or nil as an element.
  static let null = WireItem(.null)

  var json: JSONValue {
    (try? JSONScanner.value(in: text, keepingDigits: true)) ?? .null
  }

  /// Merges two versions of an element. The members of objects, such as embedded ones, are merged
  /// one by one; otherwise the later version wins.
  static func merged(
    _ base: Stamped<WireItem>?, _ theirs: Stamped<WireItem>, _ mine: Stamped<WireItem>
  ) -> Stamped<WireItem> {
    if mine.value == theirs.value { return .later(theirs, mine) }
    if let base, mine.value == base.value { return theirs }
    if let base, theirs.value == base.value { return mine }
    let isLater = theirs.stamp < mine.stamp
    let json = merged(base?.value.json ?? .null, theirs.value.json, mine.value.json, isLater)
    return Stamped(WireItem(json), max(theirs.stamp, mine.stamp))
  }

  private static func merged(
    _ base: JSONValue, _ theirs: JSONValue, _ mine: JSONValue, _ isMineLater: Bool
  ) -> JSONValue {
    if mine == theirs || theirs == base { return mine }
    if mine == base { return theirs }
    guard let others = members(theirs), let own = members(mine) else {
      return isMineLater ? mine : theirs
    }
    let former = members(base) ?? [:]
    var result: [JSONMember] = []
    for name in Set(others.keys).union(own.keys).sorted(by: ItemCoder.isBefore) {
      let (other, one, old) = (others[name], own[name], former[name])
      let value: JSONValue? =
        switch (other, one) {
        case (let other?, let one?): merged(old ?? .null, other, one, isMineLater)
        // Removed by one side, and possibly changed by the other one.
        case (let other?, nil): old == nil || old != other && !isMineLater ? other : nil
        case (nil, let one?): old == nil || old != one && isMineLater ? one : nil
        case (nil, nil): nil
        }
      if let value { result.append(JSONMember(name.text, value)) }
    }
    return .object(result)
  }

  /// The members of an object with separately merged parts: not a value with a type.
  private static func members(_ json: JSONValue) -> [StoredText: JSONValue]? {
    guard case .object(let members) = json, json[MixedJSON.typeKey] == nil else { return nil }
    return Dictionary(members.map { (StoredText($0.name), $0.value) }) { $1 }
  }
}

extension Content where Value == WireItem {
  /// The elements in the order of a file, and the keys of a map.
  var elements: (items: [WireItem], keys: [String]) {
    switch self {
    case .single: return ([], [])
    case .one(let element): return (element.map { [$0.content.value] } ?? [], [])
    case .list(let list): return (list.map(\.content.value), [])
    case .set(let items): return (Array(items), [])
    case .map(let entries):
      let sorted = entries.sorted { ItemCoder.isBefore($0.key, $1.key) }
      return (sorted.map(\.value.value), sorted.map(\.key.text))
    }
  }
}
