import Tarn
import TarnText
import ToolSupport

/// What a client asks for in its first line.
struct Subscription {
  /// Where the client is, by file.
  let positions: [String: ChangePosition]

  init(_ line: [UInt8], _ hub: FeedHub) throws {
    let json = try JSONScanner.value(in: String(decoding: line, as: UTF8.self))
    guard case .object(let members) = json else {
      throw ToolError("the request is not a JSON object")
    }
    if let other = members.first(where: { $0.name != "from" }) {
      throw ToolError("the request has the member '\(other.name)'; there is only \"from\"")
    }
    switch json["from"] {
    case nil, .null: positions = [:]
    case .string(let text):
      positions = try Self.positions(text, hub)
    case .object(let members):
      var found: [String: ChangePosition] = [:]
      for member in members {
        guard case .string(let text) = member.value else {
          throw ToolError("the position of '\(member.name)' is not a text")
        }
        found[member.name] = try Self.position(text)
      }
      positions = found
    default: throw ToolError("\"from\" is neither a position nor an object of them")
    }
  }

  /// The positions of a watch of one file.
  static func positions(_ text: String, _ hub: FeedHub) throws -> [String: ChangePosition] {
    guard !FileTable.isPattern(hub.watch.file) else {
      throw ToolError("the watch has several files: give the position of each")
    }
    return [hub.watch.file: try position(text)]
  }

  static func position(_ text: String) throws -> ChangePosition {
    guard let position = ChangePosition(text) else {
      throw ToolError("'\(text.prefix(100))' is not a position")
    }
    return position
  }
}
