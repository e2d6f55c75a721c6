import Foundation
import TarnStore
import TarnText
import ToolSupport

/// `tarn daemon status`: asks the running daemon.
struct StatusCommand {
  private let door: DaemonDoor
  private let usesJSON: Bool
  private let asMetrics: Bool

  init(_ arguments: ParsedArguments, _ configuration: ConfigurationFiles) throws {
    usesJSON = arguments.has("json")
    asMetrics = arguments.has("prometheus")
    if usesJSON, asMetrics { throw UsageError("--json and --prometheus cannot be combined") }
    door = try DaemonDoor(configuration)
  }

  func run() throws -> ActionReport {
    let answer = try door.ask(asMetrics ? "/metrics" : "/status")
    let text = String(decoding: answer.body, as: UTF8.self)
    guard answer.status == 200 else {
      throw ToolError("the daemon answered \(answer.status): \(printableLines(text))")
    }
    if usesJSON || asMetrics { return ActionReport(text) }
    return ActionReport(try Self.table(JSONScanner.value(in: text)))
  }

  // MARK: - For people

  private static func table(_ status: JSONValue) -> String {
    var sinks = TextTable([
      .init("WATCH"), .init("SINK"), .init("FILE"), .init("BEHIND", .right),
      .init("BYTES", .right), .init("DELIVERED", .right), .init("RETRIED", .right),
      .init("DEAD", .right), .init("CLIENTS", .right), .init("FAILING SINCE"), .init("LAST ERROR"),
    ])
    for sink in items(status["sinks"]) {
      sinks.add([
        text(sink["watch"]), text(sink["sink"]), text(sink["file"]), text(sink["behind"]),
        text(sink["bytesBehind"]), text(sink["delivered"]), text(sink["retried"]),
        text(sink["deadLetters"]), text(sink["clients"]),
        sink["paused"] == .bool(true) ? "paused" : text(sink["failingSince"]),
        text(sink["waiting"]).isEmpty ? text(sink["lastError"]) : text(sink["waiting"]),
      ])
    }
    var files = TextTable([
      .init("FILE"), .init("VERSION", .right), .init("BYTES", .right), .init("PINNED", .right),
      .init("WRITER"), .init("STATE"),
    ])
    for file in items(status["files"]) {
      files.add([
        text(file["path"]), text(file["version"]), text(file["bytes"]), text(file["pinnedBytes"]),
        text(file["writer"]), text(file["waiting"]),
      ])
    }
    let tables = sinks.text() + "\n" + files.text()
    let all = items(status["sync"])
    if all.isEmpty { return tables }
    var syncs = TextTable([
      .init("FILE"), .init("SERVER"), .init("CONNECTED"), .init("COMPLETE"),
      .init("UNSENT", .right),
      .init("REFUSED", .right), .init("LEFT OUT", .right), .init("PROBLEM"),
    ])
    for sync in all {
      syncs.add([
        text(sync["file"]), text(sync["server"]), text(sync["connected"]), text(sync["complete"]),
        text(sync["unsentObjects"]), text(sync["refused"]), text(sync["leftOut"]),
        text(sync["problem"]),
      ])
    }
    let left = all.flatMap { sync in
      items(sync["leftOutValues"]).map { "\(text(sync["file"])): left out: \(text($0))\n" }
    }.joined()
    if !left.isEmpty { return tables + "\n" + syncs.text() + "\n" + left }
    return tables + "\n" + syncs.text()
  }

  private static func items(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let items)? = value { items } else { [] }
  }

  private static func text(_ value: JSONValue?) -> String {
    switch value {
    case nil, .null: ""
    case .string(let text): printable(text)
    case let value?: JSONText.text(value)
    }
  }
}
