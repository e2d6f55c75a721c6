import Foundation
import TarnText
import ToolSupport

/// The watches of the running daemon and their sinks, for completion: none if it does not answer.
enum CompletedSinks {
  private static let patience = Duration.seconds(2)

  /// - Parameter configuration: the configuration that the command line names; nil for the standard
  ///   one.
  static func pairs(_ configuration: String?) -> [(watch: String, sink: String)] {
    let more = configuration.map { ["--config", $0] } ?? []
    let status = try? ChildProcess(
      OwnProgram.path, [DaemonCommand.name, "status", "--json"] + more, errors: "/dev/null")
    guard let status else { return [] }
    defer {
      status.signal(SIGKILL)
      status.wait()
    }
    guard let bytes = output(of: status), let answer = try? JSONScanner.value(in: bytes),
      case .array(let sinks)? = answer["sinks"]
    else { return [] }
    return sinks.compactMap { sink in
      guard case .string(let watch)? = sink["watch"], case .string(let name)? = sink["sink"] else {
        return nil
      }
      return (watch, name)
    }
  }

  /// All of the output; nil if it takes too long.
  private static func output(of process: ChildProcess) -> [UInt8]? {
    let limit = ContinuousClock.now + patience
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while ContinuousClock.now < limit {
      let count = read(process.output, &piece, piece.count)
      if count == 0 { return bytes }
      bytes += piece.prefix(max(0, count))
      var wait = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
      if count < 0 { _ = poll(&wait, 1, 100) }
    }
    return nil
  }
}
