import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The position of a consumer in the state folder: what it has got, and the end of what is being
/// sent to it.
///
/// Two slots are written in turn, each with a number and a sum, so that a write that a power cut
/// ends leaves the one before. Any thread.
final class PositionFile: Sendable {
  struct Content: Equatable, Sendable {
    /// Up to there it has everything.
    var acknowledged: ChangePosition?
    /// The end of the batch that may be on its way.
    var intended: ChangePosition?
  }

  private struct State {
    var content = Content()
    var number: UInt64 = 0
  }

  private static let slotBytes = 512
  private let descriptor: Int32
  private let path: String
  private let state: Lock<State>

  /// Opens it, or makes it.
  init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ToolError("cannot open", path, errno: errno) }
    var best = State()
    for slot in 0..<2 {
      var bytes = [UInt8](repeating: 0, count: Self.slotBytes)
      let count = pread(descriptor, &bytes, bytes.count, off_t(slot * Self.slotBytes))
      guard count > 0, let found = Self.parse(bytes.prefix(count)), found.number > best.number
      else { continue }
      best = found
    }
    state = Lock(best)
  }

  deinit { close(descriptor) }

  var content: Content { state.withLock { $0.content } }

  /// Changes it, durably.
  func update(_ change: (inout Content) -> Void) throws {
    try state.withLock { state in
      var next = state
      change(&next.content)
      if next.content == state.content { return }
      next.number += 1
      let bytes = Self.text(next)
      let slot = off_t(next.number % 2) * off_t(Self.slotBytes)
      guard pwrite(descriptor, bytes, bytes.count, slot) == bytes.count,
        fdatasync(descriptor) == 0
      else { throw ToolError("cannot write", path, errno: errno) }
      state = next
    }
  }

  private static func text(_ state: State) -> [UInt8] {
    let words = [
      "\(state.number)", state.content.acknowledged?.description ?? "-",
      state.content.intended?.description ?? "-",
    ].joined(separator: " ")
    var bytes = Array("\(words) \(sum(words))\n".utf8)
    bytes += [UInt8](repeating: 0x20, count: slotBytes - bytes.count)
    return bytes
  }

  private static func parse(_ bytes: ArraySlice<UInt8>) -> State? {
    guard let end = bytes.firstIndex(of: 0x0a) else { return nil }
    let parts = String(decoding: bytes[..<end], as: UTF8.self).splitASCII(" ")
    guard parts.count == 4, let number = UInt64(parts[0]),
      sum(parts[..<3].joined(separator: " ")) == parts[3]
    else { return nil }
    return State(
      content: Content(
        acknowledged: ChangePosition(String(parts[1])), intended: ChangePosition(String(parts[2]))),
      number: number)
  }

  /// FNV-1a: against torn writes, not against people.
  private static func sum(_ text: String) -> String {
    String(
      text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
  }
}
