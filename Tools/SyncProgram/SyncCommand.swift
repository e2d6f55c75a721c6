import Dispatch
import Foundation
import TarnStore
import TarnSync
import ToolSupport

/// `tarn sync`: one exchange, or a session until a signal, or a report about a file.
struct SyncCommand {
  private let files: [String]
  private let server: String?
  private let classes: [String]
  private let chosen: ChosenObjects
  private let follows: Bool
  private let timeout: Duration?

  init(_ arguments: ParsedArguments) throws {
    files = arguments.positionals("FILE")
    server = arguments.value("to")
    classes = arguments.values("class")
    chosen = try ChosenObjects(arguments.values("where"))
    follows = arguments.has("follow")
    timeout = try arguments.value("timeout").map { text -> Duration in
      guard let time = KeepText.duration(text), time > 0 else {
        throw UsageError("--timeout takes a time such as 30s or 5m, not '\(printable(text))'")
      }
      return .microseconds(Int64(clamping: time))
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    if files.first == "status", files.count == 2 { return try status(files[1], output) }
    if files.first == "unsent", files.count == 2 {
      return try UnsentCommand.list(files[1], output)
    }
    if files.first == "skip", files.count == 3 {
      return try UnsentCommand.skip(files[1], files[2], output)
    }
    guard files.count == 1 else { throw UsageError("give one FILE, not \(files.count)") }
    guard let server else { throw UsageError("give the server with --to URL") }
    var address = try ServerAddress(server)
    if let timeout { address = address.waiting(atMost: timeout) }
    return try follows ? follow(files[0], address) : exchange(files[0], address)
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
      \(Self.troubles(report))sent          up to version \(report.sent)
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

  /// Lines about stuck classes and the session's problem.
  private static func troubles(_ report: ReplicaReport) -> String {
    let stuck = report.stuck.map {
      "stuck         \(printable($0.className)): \(printable($0.error.message))\n"
    }
    let problem = report.problem.map { "problem       \(printableLines($0))\n" }
    return (stuck + [problem ?? ""]).joined()
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

  /// The classes that are named; empty for all.
  private var wanted: [String] {
    let names = classes.isEmpty ? chosen.classNames : classes + chosen.classNames
    return Array(Set(names)).sorted()
  }

  private func exchange(_ path: String, _ address: ServerAddress) throws -> ExitCode {
    let (store, names) = try StoreFile.meeting(path, ServerConnection(address), wanted)
    if !chosen.isEmpty { try chosen.subscribe(store, others: classes) }
    let replica = try Replica(store, classes: names)
    defer { replica.close() }
    replica.noticed = { SyncProgram.complain(Self.text($0)) }
    var refused = 0
    var attempts = Self.attemptsMax
    while true {
      let replicator = try Replicator(replica, ServerConnection(address)) { commit in
        if !commit.isSkipped { refused += 1 }
        SyncProgram.complain(Self.text(commit))
      }
      attempts -= 1
      do {
        try replicator.synchronizeOnce { time in
          Thread.sleep(forTimeInterval: time / .seconds(1))
        }
        return refused == 0 ? .success : .failure
      } catch let error as StorageError where error.code == .conflict && attempts > 0 {
        // The classes have changed meanwhile, on the server or in the file.
      }
    }
  }

  private static let attemptsMax = 4

  // MARK: - Until a signal

  private func follow(_ path: String, _ address: ServerAddress) throws -> ExitCode {
    let stop = try OnceSignal()
    let running = Lock(ReplicaSession?.none)
    let trap = SignalTrap { _ in
      stop.raise()
      running.withLock { $0 }?.stop()
    }
    return try withExtendedLifetime(trap) {
      guard let (store, names) = try meet(path, address, stop) else { return .success }
      if !chosen.isEmpty { try chosen.subscribe(store, others: classes) }
      let ended = DispatchSemaphore(value: 0)
      let session = try ReplicaSession(store, classes: names, to: address) { event in
        Self.tell(event, address)
        if case .ended = event { ended.signal() }
      }
      running.withLock { $0 = session }
      // The signal may have come before the session.
      if stop.time != nil { session.stop() }
      ended.wait()
      return .success
    }
  }

  private static func tell(_ event: SyncEvent, _ address: ServerAddress) {
    switch event {
    case .isElsewhere(let who): SyncProgram.complain("tarn: waiting: \(who)\n")
    case .connected: SyncProgram.complain("tarn: connected to \(address)\n")
    case .isUpToDate, .ended: break
    case .refused(let commit): SyncProgram.complain(text(commit))
    case .waits(let why, let time): complain(why, time)
    case .notice(let notice): SyncProgram.complain(text(notice))
    case .joined: SyncProgram.complain("tarn: \(SyncEvent.joinedText)\n")
    }
  }

  private static func complain(_ why: any Error, _ time: Duration) {
    let seconds = time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    SyncProgram.complain("tarn: \(printableLines("\(why)")); trying again in \(seconds)\n")
  }

  /// The store, and the classes to exchange. If the server is unreachable or full, a store that was
  /// exchanged before continues with its classes; another one waits for the server.
  ///
  /// - Returns: nil if a signal arrived first.
  private func meet(
    _ path: String, _ address: ServerAddress, _ stop: OnceSignal
  ) throws -> (Store, [String])? {
    var backoff = Backoff(first: .seconds(1), last: .seconds(60))
    while stop.time == nil {
      do {
        return try StoreFile.meeting(path, ServerConnection(address, until: stop), wanted)
      } catch let error as ServerError where error.isPassing {
        if stop.time != nil { break }
        if let known = try StoreFile.exchanged(path, wanted) { return known }
        let time = backoff.next()
        Self.complain(error, time)
        stop.wait(atMost: time)
      }
    }
    return nil
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
      ? "the server does not accept" : "rolled back version \(commit.version), which changed"
    let names = commit.properties.joined(separator: ", ")
    let place = names.isEmpty ? "" : " (\(names))"
    return "tarn: \(what) \(shown)\(place): \(printableLines("\(commit.error)"))\n"
  }
}
