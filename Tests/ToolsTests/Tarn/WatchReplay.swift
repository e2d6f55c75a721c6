import TarnText
import ToolSupport

/// What a reader of `tarn watch CLASS --json` knows: it takes each line for what it says, and finds
/// fault with a line that does not fit what it knows.
struct WatchReplay {
  struct Misfit: Error {
    var what: String
  }

  /// In their order in the result.
  private(set) var objects: [JSONValue] = []
  private(set) var version: Int64 = 0

  /// As `tarn export` writes them.
  var lines: String { objects.map { JSONText.text($0) + "\n" }.joined() }

  mutating func take(_ line: String) throws {
    let json = try JSONScanner.value(in: line)
    guard case .integer(let version)? = json["version"] else { throw Misfit(what: line) }
    self.version = version
    if case .array(let initial)? = json["initial"] {
      objects = initial
      return
    }
    for entry in items(json, "modifications") { try modify(entry) }
    for entry in items(json, "deletions").reversed() {
      let index = try position(entry)
      try check(entry["old"] == objects[index], "\(JSONText.text(objects[index])) at \(line)")
      objects.remove(at: index)
    }
    for entry in items(json, "insertions") {
      guard case .integer(let index)? = entry["index"], let new = entry["new"],
        index <= objects.count
      else { throw Misfit(what: line) }
      objects.insert(new, at: Int(index))
    }
  }

  private func items(_ json: JSONValue, _ name: String) -> [JSONValue] {
    if case .array(let items)? = json[name] { items } else { [] }
  }

  private func check(_ condition: Bool, _ what: String) throws {
    if !condition { throw Misfit(what: what) }
  }

  private func position(_ entry: JSONValue) throws -> Int {
    guard case .integer(let index)? = entry["index"], objects.indices.contains(Int(index)) else {
      throw Misfit(what: JSONText.text(entry))
    }
    return Int(index)
  }

  private mutating func modify(_ entry: JSONValue) throws {
    let index = try position(entry)
    guard case .object(var members) = objects[index], case .object(let old)? = entry["old"],
      case .object(let new)? = entry["new"]
    else { throw Misfit(what: JSONText.text(entry)) }
    for member in old {
      try check(
        members.contains(member), "\(member) in \(JSONText.text(entry)), known: \(members)")
      if !new.contains(where: { $0.name == member.name }) {
        members.removeAll { $0.name == member.name }
      }
    }
    for member in new {
      if let slot = members.firstIndex(where: { $0.name == member.name }) {
        members[slot] = member
      } else {
        members.append(member)
      }
    }
    for change in items(entry, "collections") {
      guard case .string(let column)? = change["column"],
        let slot = members.firstIndex(where: { $0.name == column }),
        case .array(let list) = members[slot].value
      else { throw Misfit(what: JSONText.text(change)) }
      members[slot] = JSONMember(column, .array(try edited(list, change)))
    }
    objects[index] = .object(members)
  }

  /// A list after what happened in it.
  private func edited(_ list: [JSONValue], _ change: JSONValue) throws -> [JSONValue] {
    var list = list
    func index(_ entry: JSONValue) throws -> Int {
      guard case .integer(let index)? = entry["index"], index <= list.count else {
        throw Misfit(what: JSONText.text(change))
      }
      return Int(index)
    }
    for entry in items(change, "deletions").reversed() { list.remove(at: try index(entry)) }
    for entry in items(change, "insertions") {
      list.insert(entry["value"] ?? .null, at: try index(entry))
    }
    for entry in items(change, "modifications") { list[try index(entry)] = entry["new"] ?? .null }
    return list
  }
}
