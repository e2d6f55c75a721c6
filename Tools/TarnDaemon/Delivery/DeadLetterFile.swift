import Foundation
import TarnStore
import TarnText
import ToolSupport

/// The file for refused objects: a line of JSON for each, with the receiver's answer.
///
/// A line is on the disk before its batch is acknowledged. A daemon that dies between the two
/// writes it again.
final class DeadLetterFile: Sendable {
  private let path: String
  private let outputs: OutputFiles

  init(_ path: String, _ outputs: OutputFiles) {
    self.path = path
    self.outputs = outputs
  }

  /// - Parameters:
  ///   - line: what was refused, as the receiver was sent it.
  ///   - attempts: how often it was sent alone.
  func append(
    _ line: [UInt8], of delivery: Delivery, sink: String, attempts: Int,
    _ failure: DeliveryFailure, at now: Timestamp, unless isStopped: () -> Bool
  ) throws(DeliveryFailure) {
    let refusal = failure.refusal ?? Refusal()
    var members = [
      JSONMember("watch", .string(delivery.watch.name)), JSONMember("file", .string(delivery.path)),
      JSONMember("sink", .string(sink)), JSONMember("at", .string(ISODate.text(now))),
      JSONMember("attempts", .integer(Int64(attempts))),
      JSONMember("reason", .string(failure.description)),
    ]
    if let code = refusal.code { members.append(JSONMember("status", .integer(Int64(code)))) }
    members.append(JSONMember("answer", .string(refusal.answer)))
    var bytes = JSONText.bytes(.object(members))
    bytes.removeLast()
    bytes += Array(#","batch":"#.utf8) + line.prefix { $0 != 0x0a } + Array("}\n".utf8)
    // Closed again: letters are rare, and the file may be moved away.
    let output = try outputs.open(path)
    defer { outputs.close(output) }
    var piece: [UInt8]? = bytes
    try output.append({ piece.take() }, unless: isStopped)
  }
}
