import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// The connections of a socket sink, without a daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct SocketClientTests {
  private let hub: FeedHub

  init() throws {
    let watch = WatchSettings(name: "notes", file: "/nowhere", className: "Note")
    hub = FeedHub(
      watch, sink: "socket",
      try DaemonContext(DaemonSettings(instance: "test"), DaemonLog(upTo: .error)))
  }

  /// Two ends of a connection, of which the first does not block.
  private func connection() throws -> (own: Int32, other: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | O_CLOEXEC
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0, fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else {
      throw ToolError("cannot make", "a connection", errno: errno)
    }
    return (ends[0], ends[1])
  }

  /// How a connection ends.
  enum End: CaseIterable { case closedByClient, closedByDaemon, closedWithoutRequest }

  /// A daemon that runs for months serves any number of connections.
  @Test(arguments: End.allCases)
  func nothingIsLeftOfAConnection(_ end: End) async throws {
    let (own, other) = try connection()
    weak var client: SocketClient?
    hub.queue.sync {
      let made = SocketClient(own, hub, SocketSettings(path: ""))
      client = made
      made.start()
    }
    #expect(client != nil)
    if end != .closedWithoutRequest {
      #expect(write(other, "{}\n", 3) == 3)
      try await yieldUntil { hub.subscriberCount == 1 }
    }
    if end == .closedByDaemon { hub.stop() } else { close(other) }
    try await yieldUntil { client == nil }
    #expect(client == nil)
    #expect(hub.subscriberCount == 0)
    if end == .closedByDaemon { close(other) }
  }

  @Test func aTakenLineKeepsNoMoreThanItsBytes() {
    var json = JSONText()
    json.value(.string(String(repeating: "x", count: 100_000)))
    #expect(json.takeBytes().count == 100_002)
    json.value(.string("x"))
    #expect(json.takeBytes().capacity < 1_000)
  }
}
