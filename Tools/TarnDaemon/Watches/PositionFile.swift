import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The position of a consumer in the state folder: what it has got, the end of what is being sent
/// to it, and the file that it consumes.
///
/// Two slots are written in turn, each with a number and a sum, so that a write that a power cut
/// ends leaves the one before. It is open only while it is read or written: a daemon may have
/// thousands. Any thread.
final class PositionFile: Sendable {
  struct Content: Equatable, Sendable {
    /// Up to there it has everything.
    var acknowledged: ChangePosition?
    /// The end of the batch that may be on its way.
    var intended: ChangePosition?
    /// Whether an earlier version began to send that batch, with another key.
    var isOfEarlierVersion = false
  }

  private struct State {
    var content = Content()
    var number: UInt64 = 0
    /// The file that is noted beside the position.
    var noted: WatchedPlace?
  }

  private static let slotBytes = 512
  /// What the lines of this version end with; those of earlier ones have a word less.
  private static let mark = "2"
  private let consumed: WatchedPlace?
  private let path: String
  private let state: Lock<State>

  /// Opens it, or makes it.
  ///
  /// - Parameter consumed: the file that the position is for, which is noted beside it.
  init(_ path: String, of consumed: WatchedPlace? = nil) throws {
    self.path = path
    self.consumed = consumed
    let descriptor = try Self.open(path)
    defer { close(descriptor) }
    let known = Self.read(descriptor)
    state = Lock(known)
    if known.number > 0 { try state.withLock { try note(&$0, descriptor) } }
  }

  private static func open(_ path: String) throws -> Int32 {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ToolError("cannot open", path, errno: errno) }
    return descriptor
  }

  var content: Content { state.withLock { $0.content } }

  /// The position in a file, and what it is for; nil if that is not known.
  static func noted(in path: String) -> (place: WatchedPlace, content: Content)? {
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let known = read(descriptor)
    return known.noted.map { ($0, known.content) }
  }

  private static func read(_ descriptor: Int32) -> State {
    var bytes = [UInt8](repeating: 0, count: 2 * slotBytes + WatchedPlace.bytesMax)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    bytes.removeLast(bytes.count - max(0, count))
    var best = State()
    for slot in 0..<2 {
      let part = bytes.dropFirst(slot * slotBytes).prefix(slotBytes)
      guard let found = parse(part), found.number > best.number else { continue }
      best = found
    }
    best.noted = WatchedPlace(bytes: bytes.dropFirst(2 * slotBytes))
    return best
  }

  /// Notes what the position is for.
  private func note(_ state: inout State, _ descriptor: Int32) throws {
    // Somebody may have deleted the file, or its content, meanwhile.
    let isEmpty = lseek(descriptor, 0, SEEK_END) == 0
    guard let consumed, consumed != state.noted || isEmpty else { return }
    let bytes = consumed.bytes
    guard pwrite(descriptor, bytes, bytes.count, off_t(2 * Self.slotBytes)) == bytes.count,
      fdatasync(descriptor) == 0
    else { throw ToolError("cannot write", path, errno: errno) }
    state.noted = consumed
  }

  /// Changes it, durably.
  func update(_ change: (inout Content) -> Void) throws {
    try state.withLock { state in
      var next = state
      change(&next.content)
      if next.content == state.content { return }
      let descriptor = try Self.open(path)
      defer { close(descriptor) }
      try note(&state, descriptor)
      next.noted = state.noted
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
    var parts = [
      "\(state.number)", state.content.acknowledged?.description ?? "-",
      state.content.intended?.description ?? "-",
    ]
    if !state.content.isOfEarlierVersion { parts.append(mark) }
    let words = parts.joined(separator: " ")
    var bytes = Array("\(words) \(sum(words))\n".utf8)
    bytes += [UInt8](repeating: 0x20, count: slotBytes - bytes.count)
    return bytes
  }

  private static func parse(_ bytes: ArraySlice<UInt8>) -> State? {
    guard let end = bytes.firstIndex(of: 0x0a) else { return nil }
    let parts = String(decoding: bytes[..<end], as: UTF8.self).splitASCII(" ")
    guard parts.count == 4 || parts.count == 5 && parts[3] == mark,
      let number = UInt64(parts[0]),
      sum(parts.dropLast().joined(separator: " ")) == parts[parts.count - 1]
    else { return nil }
    let intended = ChangePosition(String(parts[2]))
    return State(
      content: Content(
        acknowledged: ChangePosition(String(parts[1])), intended: intended,
        isOfEarlierVersion: parts.count == 4 && intended != nil),
      number: number)
  }

  /// FNV-1a: against torn writes, not against people.
  private static func sum(_ text: String) -> String {
    String(
      text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
  }
}
