import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Sockets and ports of other processes, in a configuration for a daemon that runs already.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct TakenPlaceTests {
  private let folder = TemporaryFolder()

  private func configuration(_ http: String, _ socket: String = "own") -> String {
    """
    http: {\(http)}
    watches:
      - {name: notes, file: $/notes.tarn, class: Note, sinks: [{socket: $/\(socket).sock}]}
    """
  }

  /// Only those that the daemon has are no problem.
  @Test func areProblemsBesideARunningDaemon() throws {
    _ = try NoteFile(folder)
    let token = try folder.file("token", Array("0123456789abcdef".utf8))
    chmod(token, 0o600)
    let other = try ListeningSocket(at: folder.file("other.sock"), mode: 0o600)
    let port = try ListeningSocket(host: "127.0.0.1", port: 0)
    guard case .port(let number) = port.address else { throw ToolError("no port") }
    let own = configuration("listen: $/http.sock")
    let daemon = try DaemonProcess(folder, own)
    func check(_ text: String) throws -> (text: String, end: ChildProcess.End) {
      try daemon.write(text)
      return try DaemonProcess.run(["check", "--config", daemon.configuration])
    }
    #expect(try check(own).end == .exited(0))
    let taken = [
      configuration("listen: $/other.sock"), configuration("listen: $/http.sock", "other"),
      configuration("listen: '127.0.0.1:\(number)', token-file: $/token"),
    ]
    for text in taken {
      let (found, end) = try check(text)
      #expect(end == .exited(1), "\(text): \(found)")
      #expect(found.contains("another process listens") || found.contains("cannot listen on"))
    }
    #expect(try check(own).end == .exited(0))
    #expect(daemon.stop() == .exited(0))
    withExtendedLifetime((other, port)) {}
  }
}
