import Foundation
import Synchronization
import TarnStore
import TarnText
import ToolSupport

/// A client of the daemon's socket, on a separate thread: it keeps a copy of the objects, randomly
/// ends its connection, and resumes at its last position.
final class SoakClient: Sendable {
  private struct State {
    var model = LineModel()
    var position: String?
    var ends = 0
    var failure: String?
    var descriptor: Int32 = -1
    var random: FeedProgram
  }

  private let path: String
  private let state: Lock<State>

  init(_ path: String, _ seed: UInt64) throws {
    self.path = path
    state = Lock(State(random: FeedProgram(seed: seed)))
    Thread { [self] in
      while true { connectAndRead() }
    }.start()
  }

  var ends: Int { state.withLock { $0.ends } }

  /// Ends the connection by chance.
  func disturb() {
    state.withLock { state in
      guard state.random.below(5) == 0, state.descriptor >= 0 else { return }
      shutdown(state.descriptor, Int32(SHUT_RDWR))
    }
  }

  /// Waits until it has the objects.
  ///
  /// - Throws: `ToolError` if it does not get them.
  func finish(_ expected: [String: String]) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let (texts, failure) = state.withLock { ($0.model.notes, $0.failure) }
      if let failure { throw ToolError("a client: \(failure)") }
      if texts == expected { return }
      guard ContinuousClock.now < deadline else {
        throw ToolError("a client does not have what the store has")
      }
      usleep(10_000)
    }
  }

  private func connectAndRead() {
    guard let descriptor = connect() else {
      // The daemon is not there yet, or not any more.
      usleep(10_000)
      return
    }
    state.withLock { $0.descriptor = descriptor }
    defer {
      state.withLock { state in
        state.descriptor = -1
        state.ends += 1
      }
      close(descriptor)
    }
    let position = state.withLock { $0.position }
    let request = Array((position.map { "{\"from\":\"\($0)\"}" } ?? "{}").utf8) + [0x0a]
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      return
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      // Some are slower than the writer, and once in a while too slow.
      let (isSlow, isTooSlow) = state.withLock {
        ($0.random.below(50) == 0, $0.random.below(5_000) == 0)
      }
      if isSlow { usleep(100_000) }
      if isTooSlow { sleep(3) }
      let count = read(descriptor, &piece, piece.count)
      guard count > 0 else { return }
      bytes += piece[..<count]
      guard let end = bytes.lastIndex(of: 0x0a) else { continue }
      for line in bytes[..<end].split(separator: 0x0a) where !take(Array(line)) { return }
      bytes.removeSubrange(...end)
    }
  }

  /// False if the connection ends with that line.
  private func take(_ line: [UInt8]) -> Bool {
    state.withLock { state in
      do {
        let json = try JSONScanner.value(in: String(decoding: line, as: UTF8.self))
        // It was too slow, as intended.
        if json["error"] != nil { return false }
        try state.model.apply(json)
        // A line that is continued does not have all of its position.
        if json["more"] == nil, case .string(let text)? = json["position"] { state.position = text }
        return true
      } catch {
        state.failure = "\(error)"
        return false
      }
    }
  }

  private func connect() -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    let code = UnixAddress.with(path) { Foundation.connect(descriptor, $0, $1) }
    if code == 0 { return descriptor }
    close(descriptor)
    return nil
  }
}

extension LineModel {
  /// The text and the count of each note, by key.
  var notes: [String: String] {
    objects.compactMapValues { values in
      guard case .string(let text)? = values["text"], case .integer(let count)? = values["count"]
      else { return nil }
      return "\(text) \(count)"
    }
  }
}
