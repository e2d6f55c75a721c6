import Dispatch
import Foundation
import TarnStore
import TarnSync
import ToolSupport

/// `tarn sync`: one exchange, or a session until a signal, or what a file knows.
struct SyncCommand {
  private let files: [String]
  private let server: String?
  private let classes: [String]
  private let chosen: ChosenObjects
  private let follows: Bool

  init(_ arguments: ParsedArguments) throws {
    files = arguments.positionals("FILE")
    server = arguments.value("to")
    classes = arguments.values("class")
    chosen = try ChosenObjects(arguments.values("where"))
    follows = arguments.has("follow")
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    if files.first == "status", files.count == 2 { return try status(files[1], output) }
    guard files.count == 1 else { throw UsageError("give one FILE") }
    guard let server else { throw UsageError("give the server with --to URL") }
    return try exchange(files[0], ServerAddress(server), output)
  }

  private func status(_ path: String, _ output: OutputPipe) throws -> ExitCode {
    guard let report = try ReplicaReport.of(StoreFile.existing(path)) else {
      try output.write("\(path) is not exchanged with a server\n")
      return .success
    }
    try output.write(
      """
      replica       \(report.number)
      classes       \(report.classes.joined(separator: ", "))
      downloaded    \(report.isComplete ? "yes" : "not all of it yet")
      chosen        \(Self.text(report.subscriptions))
      sent          up to version \(report.sent)
      not sent      \(Self.unsent(report))

      """)
    let (left, count) = (report.leftOut, report.leftOutCount)
    if count > 0 {
      try output.write("left out      \(count) \(count == 1 ? "value" : "values") of the server\n")
      for value in left { try output.write("  \(printableLines(value.text))\n") }
      if count > left.count { try output.write("  and \(count - left.count) more\n") }
    }
    return .success
  }

  private static func unsent(_ report: ReplicaReport) -> String {
    func counted(_ count: Int, _ noun: String) -> String {
      "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
    var parts: [String] = []
    if report.changedObjects > 0 {
      parts.append(
        "\(counted(report.unsentCommits, "commit")) that changed "
          + counted(report.changedObjects, "object"))
    }
    if report.lackingObjects > 0 {
      parts.append("\(counted(report.lackingObjects, "object")) that the server does not have")
    }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }

  private static func text(_ set: SubscriptionSet?) -> String {
    guard let set else { return "all objects" }
    let queries = set.subscriptions.map { one in
      "\(one.className): \(one.condition)" + (one.name.map { " (\($0))" } ?? "")
    }
    let list = queries.isEmpty ? "nothing" : queries.joined(separator: "; ")
    if case .failed(let reason) = set.state { return "\(list), which fails: \(reason)" }
    return list
  }

  private func exchange(
    _ path: String, _ address: ServerAddress, _ output: OutputPipe
  ) throws -> ExitCode {
    let wanted = classes.isEmpty ? chosen.classNames : classes + chosen.classNames
    let (store, names) = try StoreFile.meeting(
      path, ServerConnection(address), Array(Set(wanted)).sorted())
    if !chosen.isEmpty { try chosen.subscribe(store, others: classes) }
    guard follows else {
      let replica = try Replica(store, classes: names)
      defer { replica.close() }
      var refused = 0
      let link = try ReplicaLink(replica, ServerConnection(address)) { commit in
        refused += 1
        SyncProgram.complain(Self.text(commit))
      }
      replica.noticed = { SyncProgram.complain(Self.text($0)) }
      try link.synchronize()
      return refused == 0 ? .success : .failure
    }
    let ended = DispatchSemaphore(value: 0)
    let session = try ReplicaSession(store, classes: names, to: address) { event in
      switch event {
      case .isElsewhere(let who): SyncProgram.complain("tarn: waiting: \(who)\n")
      case .connected: SyncProgram.complain("tarn: connected to \(address)\n")
      case .isUpToDate: break
      case .refused(let commit): SyncProgram.complain(Self.text(commit))
      case .waits(let why, let time):
        let seconds = time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
        SyncProgram.complain("tarn: \(printableLines("\(why)")); trying again in \(seconds)\n")
      case .notice(let notice): SyncProgram.complain(Self.text(notice))
      case .joined: SyncProgram.complain("tarn: \(SyncEvent.joinedText)\n")
      case .ended: ended.signal()
      }
    }
    let trap = SignalTrap { _ in session.stop() }
    withExtendedLifetime(trap) { ended.wait() }
    return .success
  }

  private static func text(_ notice: SyncNotice) -> String {
    "tarn: \(printableLines(notice.text))\n"
  }

  private static func text(_ commit: RefusedCommit) -> String {
    let objects = commit.objects.map { "\($0.className) \($0.primaryKey)" }
    let shown =
      objects.prefix(3).joined(separator: ", ")
      + (objects.count > 3 ? " and \(objects.count - 3) more" : "")
    let what =
      commit.version == 0
      ? "the server does not take" : "took back version \(commit.version), which changed"
    let names = commit.properties.joined(separator: ", ")
    let place = names.isEmpty ? "" : " (\(names))"
    return "tarn: \(what) \(shown)\(place): \(printableLines("\(commit.error)"))\n"
  }
}
