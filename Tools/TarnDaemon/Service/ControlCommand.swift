import Foundation
import TarnStore
import ToolSupport

/// `tarn daemon pause|resume|skip|resend|try WATCH SINK`: asks the running daemon.
struct ControlCommand {
  private let door: DaemonDoor
  private let path: String

  init(
    _ action: SinkAction, _ arguments: ParsedArguments, _ configuration: ConfigurationFiles
  ) throws {
    guard let watch = arguments.positional("WATCH"), let sink = arguments.positional("SINK") else {
      throw UsageError("'\(action)' needs the names of a watch and of a sink")
    }
    for name in [watch, sink] where !Self.mayBeName(name) {
      throw UsageError(
        "'\(name)' is not the name of a watch or a sink, which has letters, digits and - _ . only")
    }
    let file = arguments.value("file").map { "?file=\(Self.escaped(Self.absolute($0)))" } ?? ""
    path = "/watches/\(Self.escaped(watch))/sinks/\(Self.escaped(sink))/\(action)\(file)"
    door = try DaemonDoor(configuration)
  }

  func run() throws -> ActionReport {
    let answer = try door.ask(path, body: [], timeout: .seconds(600))
    let text = printableLines(String(decoding: answer.body, as: UTF8.self))
    guard answer.status == 200 else {
      throw ToolError(String(text.trimmingASCII(lineEnds: true)))
    }
    return ActionReport(text)
  }

  /// The daemon has another working folder.
  private static func absolute(_ path: String) -> String {
    path.beginsWithBytes(of: "/") || path.isEmpty
      ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }

  /// Whether a text is one part of an address, as the names of watches and sinks are.
  private static func mayBeName(_ text: String) -> Bool {
    text != "." && text != ".." && !text.isEmpty
      && text.utf8.allSatisfy { $0 != UInt8(ascii: "/") && isPlain($0) }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
      || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_./".utf8.contains(byte)
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let digits = String(byte, radix: 16)
      return isPlain(byte)
        ? String(Unicode.Scalar(byte)) : "%\(digits.utf8.count < 2 ? "0" : "")\(digits)"
    }.joined()
  }
}
