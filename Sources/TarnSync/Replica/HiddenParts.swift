import TarnStore
import TarnText

/// The parts of an element that a file does not show: links whose targets are missing here, and
/// members of embedded objects that its program does not know. A push must not remove them.
///
/// Only the members of an embedded object can be unknown. A key that a map lacks was removed.
struct HiddenParts {
  let schema: StoreSchema

  /// Inserts the hidden parts of a former element into the element that the file has now.
  ///
  /// - Parameters:
  ///   - json: the element in the file.
  ///   - shown: the former element as the file showed it.
  ///   - old: the former element.
  func restored(
    _ json: JSONValue, _ shown: JSONValue, _ old: JSONValue, _ column: ColumnSchema
  ) -> JSONValue {
    if json == shown { return old }
    if let embedded = ItemCoder.embedded(column, schema) {
      return object(json, shown, old, embedded)
    }
    return column.type == .any ? mixed(json, shown, old, column) : json
  }

  private func object(
    _ json: JSONValue, _ shown: JSONValue, _ old: JSONValue, _ embedded: ClassSchema
  ) -> JSONValue {
    guard case .object(let own) = json, case .object(let former) = old else { return json }
    let columns = Dictionary(
      embedded.columns.filter { !$0.isRemoved }.map { (StoredText($0.name), $0) }
    ) { $1 }
    let (before, visible) = (Self.table(former), Self.table(shown))
    let members = own.map { member in
      let name = StoredText(member.name)
      guard let was = before[name], let column = columns[name] else { return member }
      return JSONMember(
        member.name, property(member.value, visible[name] ?? .null, was, column))
    }
    return ItemCoder.sorted(members + former.filter { columns[StoredText($0.name)] == nil })
  }

  private func property(
    _ json: JSONValue, _ shown: JSONValue, _ old: JSONValue, _ column: ColumnSchema
  ) -> JSONValue {
    if json == shown { return old }
    switch (column.collection, json, shown, old) {
    case (.none, _, _, _): return restored(json, shown, old, column)
    case (.map, .object(let own), _, .object(let former)):
      return ItemCoder.sorted(entries(own, Self.table(shown), Self.table(former), column))
    case (.list, .array(let own), .array(let visible), .array(let former))
    where own.count == former.count && visible.count == former.count:
      return .array(own.indices.map { restored(own[$0], visible[$0], former[$0], column) })
    default: return json
    }
  }

  private func mixed(
    _ json: JSONValue, _ shown: JSONValue, _ old: JSONValue, _ column: ColumnSchema
  ) -> JSONValue {
    guard let own = MixedJSON.members(ofMap: json), let former = MixedJSON.members(ofMap: old)
    else { return json }
    let visible = Self.table(MixedJSON.members(ofMap: shown) ?? [])
    return ItemCoder.map(entries(own, visible, Self.table(former), column))
  }

  /// The current entries of a map.
  private func entries(
    _ own: [JSONMember], _ shown: [StoredText: JSONValue], _ old: [StoredText: JSONValue],
    _ column: ColumnSchema
  ) -> [JSONMember] {
    own.map { member in
      let name = StoredText(member.name)
      guard let was = old[name] else { return member }
      return JSONMember(
        member.name, restored(member.value, shown[name] ?? .null, was, column))
    }
  }

  private static func table(_ json: JSONValue) -> [StoredText: JSONValue] {
    if case .object(let members) = json { table(members) } else { [:] }
  }

  private static func table(_ members: [JSONMember]) -> [StoredText: JSONValue] {
    Dictionary(members.map { (StoredText($0.name), $0.value) }) { $1 }
  }
}
