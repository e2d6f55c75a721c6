import Tarn
import TarnText
import ToolSupport

/// What a client asks for in its first line.
struct Subscription {
  /// Where the client is.
  let point: FeedPoint

  init(_ line: [UInt8], _ hub: FeedHub) throws {
    let json = try JSONScanner.value(in: String(decoding: line, as: UTF8.self))
    guard case .object(let members) = json else {
      throw ToolError("the request is not a JSON object")
    }
    if let other = members.first(where: { $0.name != "from" }) {
      throw ToolError("the request has the member '\(other.name)'; there is only \"from\"")
    }
    switch json["from"] {
    case nil, .null: point = FeedPoint(for: hub.selection)
    case .string(let text): point = try Self.point(text, hub)
    case .object(let members):
      var found: [String: ClientPosition] = [:]
      for member in members {
        guard case .string(let text) = member.value else {
          throw ToolError("the position of '\(member.name)' is not a text")
        }
        found[member.name] = try Self.position(text)
      }
      point = FeedPoint(found, for: hub.selection)
    default: throw ToolError("\"from\" is neither a position nor an object of them")
    }
  }

  /// A position in a watch of one file, or the id of an event. A position in one of several files
  /// counts for the file whose history it is in.
  static func point(_ text: String, _ hub: FeedHub) throws -> FeedPoint {
    if let point = FeedPoint(text, for: hub.selection) { return point }
    let position = try position(text)
    var path: String? = hub.watch.file
    if FileTable.isPattern(hub.watch.file) {
      path = hub.path(ofHistory: position.position.historyID)
    }
    return FeedPoint(path.map { [$0: position] } ?? [:], for: hub.selection)
  }

  static func position(_ text: String) throws -> ClientPosition {
    guard let position = ClientPosition(text) else {
      throw ToolError("'\(text.prefix(100))' is not a position")
    }
    return position
  }
}
