import Foundation

/// A shell script that runs until this is released, or the process ends, however that happens: then
/// its standard input ends. As root it runs as the user `postgres`, because PostgreSQL's programs
/// refuse to run as root.
package final class HeldProgram: Sendable {
  /// The first line that it printed: it is ready then.
  package let line: String
  private let input: Pipe

  /// - Parameter program: a program that runs the rest as this process's user.
  /// - Throws: `NotStarted` if it prints none; its messages are on standard error.
  package init(
    _ script: String, _ arguments: [String] = [], within program: [String] = []
  ) throws {
    let process = Process()
    let asOther = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      program + (geteuid() == 0 ? asOther : []) + ["sh", "-c", script, "sh"] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    input = Pipe.ofOneProcess()
    let output = Pipe.ofOneProcess()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty,
      byte[byte.startIndex] != 10
    {
      line += byte
    }
    self.line = String(decoding: line, as: UTF8.self)
    if line.isEmpty { throw NotStarted() }
  }

  package struct NotStarted: Error {}
}
