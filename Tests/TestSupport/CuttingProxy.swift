import Foundation
import TarnStore

/// A server's Unix socket at another place, whose connections end after a number of bytes, or pass
/// none for a time.
package final class CuttingProxy: Sendable {
  package enum Direction: CaseIterable, Sendable { case toServer, toClient }

  private struct State {
    /// How many bytes may still pass; nil for any number.
    var budget: [Direction: Int] = [:]
    var passed: [Direction: Int] = [:]
  }

  private let listener: Int32
  private let target: String
  private let state = Lock(State())
  /// Held while nothing passes.
  private let passage = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - folder: the folder of the server's socket.
  ///   - own: the folder of this one, which exists.
  package init(to folder: String, in own: String) throws {
    target = folder + "/.s.PGSQL.5432"
    listener = try Self.listener(own)
    passage.signal()
    Thread.detachNewThread { [self] in accept() }
  }

  /// A socket for connections in the place of a server's.
  ///
  /// - Parameter folder: the folder of the socket, which exists.
  package static func listener(_ folder: String) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard listener >= 0,
      withAddress(folder + "/.s.PGSQL.5432", { bind(listener, $0, $1) }) == 0,
      listen(listener, 16) == 0
    else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return listener
  }

  /// Ends the proxy; connections go on.
  package func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Lets connections end after that many bytes; nil for never.
  package func cut(after bytes: Int?, _ direction: Direction) {
    state.withLock { state in
      state.budget = [:]
      state.budget[direction] = bytes
      state.passed = [:]
    }
  }

  /// Lets no byte pass, in either direction, until `goOn` is called.
  package func stall() { passage.wait() }

  package func goOn() { passage.signal() }

  /// The bytes that have passed since the last call of `cut`.
  package func passed(_ direction: Direction) -> Int {
    state.withLock { $0.passed[direction] ?? 0 }
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      if client < 0 { break }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
      guard Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
        for descriptor in [client, server] { Glibc.close(descriptor) }
        continue
      }
      let pair = Pair(client, server)
      Thread.detachNewThread { [self] in pump(pair, .toServer) }
      Thread.detachNewThread { [self] in pump(pair, .toClient) }
    }
    Glibc.close(listener)
  }

  /// Two ends, which are closed when both directions have ended.
  private final class Pair: Sendable {
    let client: Int32
    let server: Int32

    init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

    func end() { for end in [client, server] { shutdown(end, Int32(SHUT_RDWR)) } }

    deinit { for end in [client, server] { Glibc.close(end) } }
  }

  private func pump(_ pair: Pair, _ direction: Direction) {
    let (source, sink) =
      direction == .toServer ? (pair.client, pair.server) : (pair.server, pair.client)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(source, &buffer, buffer.count)
      if count <= 0 { break }
      passage.wait()
      passage.signal()
      let allowed = take(count, direction)
      var written = 0
      while written < allowed {
        let more = buffer[written..<allowed].withUnsafeBytes {
          send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if more <= 0 { break }
        written += more
      }
      if allowed < count || written < allowed { break }
    }
    pair.end()
  }

  /// How many of the bytes may pass.
  private func take(_ count: Int, _ direction: Direction) -> Int {
    state.withLock { state in
      let allowed = min(count, state.budget[direction] ?? count)
      state.budget[direction]? -= allowed
      state.passed[direction, default: 0] += allowed
      return allowed
    }
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
