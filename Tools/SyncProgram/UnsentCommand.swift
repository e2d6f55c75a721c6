import Foundation
import TarnStore
import TarnSync
import ToolSupport

/// `tarn sync unsent` and `tarn sync skip`: the changes that the server does not have, and those
/// that it need not get.
enum UnsentCommand {
  static func list(_ path: String, _ output: OutputPipe) throws -> ExitCode {
    guard let report = try UnsentReport.of(StoreFile.existing(path)) else {
      try output.write("\(path) is not exchanged with a server\n")
      return .success
    }
    if report.joined.isEmpty, report.commits.isEmpty {
      try output.write("the server has everything\n")
      return .success
    }
    for one in report.joined { try output.write(text(one)) }
    if !report.commits.isEmpty { try output.write(table(report.commits).text()) }
    if report.isCut { try output.write("and more commits\n") }
    return .success
  }

  private static func text(_ one: UnsentReport.Joined) -> String {
    var keys = one.first.map { printable("\($0)") }.joined(separator: ", ")
    if one.count > one.first.count { keys += ", …" }
    let objects = "\(one.count) \(one.count == 1 ? "object" : "objects")"
    guard let stuck = one.stuck else {
      let text = one.isJoined ? "to be sent as one commit" : "to be sent"
      return "\(printable(one.className)): \(objects), \(text): \(keys)\n"
    }
    let attempts = "\(stuck.attempts) \(stuck.attempts == 1 ? "attempt" : "attempts")"
    return """
      \(printable(one.className)): \(objects), stuck since \(time(stuck.since)), \
      \(attempts): \(keys)
        \(printableLines("\(stuck.error)").replacing("\n", with: "\n  "))

      """
  }

  private static func table(_ commits: [UnsentReport.Commit]) -> TextTable {
    var table = TextTable([
      .init("VERSION", .right), .init("MADE"), .init("OBJECTS", .right), .init("FIRST"),
    ])
    for commit in commits {
      let first = commit.objects[0]
      let key = first.primaryKey.map { " \(printable("\($0)"))" } ?? ""
      table.add([
        "\(commit.version)", time(commit.time), "\(commit.objects.count)",
        printable(first.className) + key,
      ])
    }
    return table
  }

  private static func time(_ microseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(microseconds / 1_000_000)).formatted(.iso8601)
  }

  /// - Parameter name: a version, or a class that is stuck.
  static func skip(_ path: String, _ name: String, _ output: OutputPipe) throws -> ExitCode {
    let store = try StoreFile.existing(path)
    // A class may have a number as its name.
    let waits = try UnsentReport.of(store)?.commits.map { "\($0.version)" }.contains(name) == true
    if let version = UInt64(name), try waits || !SkipRequest.isStuck(class: name, in: store) {
      try SkipRequest.skip(version: version, in: store)
      try output.write("version \(version) will be rolled back at the next exchange\n")
    } else {
      try SkipRequest.skip(class: name, in: store)
      try output.write(
        "the changes of \(printable(name)) will be rolled back at the next exchange\n")
    }
    return .success
  }
}
