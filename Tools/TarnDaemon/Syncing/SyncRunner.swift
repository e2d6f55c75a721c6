import Dispatch
import Foundation
import SyncProgram
import TarnStore
import TarnSync
import ToolSupport

/// Keeps files and a server the same: a session for each file of one entry of `sync:`.
final class SyncRunner: FileTable.Listener {
  private struct Running {
    let file: OpenFile
    let session: ReplicaSession
  }
  /// A file without a session, such as one that lacks the class of a condition.
  private struct Failed {
    let file: OpenFile
    let problem: String
    /// The schema of the file with which it failed.
    let epoch: UInt64?
    let time = ContinuousClock.now
  }
  private struct State {
    var sessions: [String: Running] = [:]
    var failed: [String: Failed] = [:]
    var refused: [String: UInt64] = [:]
    /// The files that are tried again at the moment.
    var retried: Set<String> = []
    /// Whether files without a session are tried again now.
    var isHurried = false
    var hasStopped = false
  }

  /// After this time a session is tried again, also if the schema of its file is the same.
  private static let patience = Duration.seconds(60)

  let settings: SyncSettings
  private let files: FileTable
  private let log: DaemonLog
  private let owners: SyncedPaths
  private let state = Lock(State())

  /// - Parameter owners: which entry has which file.
  init(
    _ settings: SyncSettings, _ files: FileTable, _ log: DaemonLog, _ owners: SyncedPaths
  ) {
    self.settings = settings
    self.files = files
    self.log = log
    self.owners = owners
  }

  /// Begins with the files that are there. Never waits for them.
  ///
  /// - Parameter group: is entered until these files have begun.
  func start(in group: DispatchGroup) {
    group.enter()
    files.add(settings.file, self).notify(queue: .global()) { group.leave() }
  }

  /// Ends the sessions; what they do at the moment is ended in order.
  func stop() {
    state.withLock { $0.hasStopped = true }
    files.remove(self)
    let sessions = state.withLock { state in
      defer { (state.sessions, state.failed) = ([:], [:]) }
      return Array(state.sessions.values)
    }
    for running in sessions { running.session.stop() }
    owners.release(of: self)
  }

  /// The status of each file, also of those without a session.
  var statuses: [SyncStatus] {
    let (sessions, failed, refused) = state.withLock { ($0.sessions, $0.failed, $0.refused) }
    let running = sessions.map { path, one in
      SyncStatus(path, settings.server, one.file.store, refused: refused[path] ?? 0)
    }
    return running
      + failed.map { path, one in
        var status = SyncStatus(
          path, settings.server, one.file.store, refused: refused[path] ?? 0)
        (status.hasSession, status.isConnected, status.problem) = (false, false, one.problem)
        return status
      }
  }

  // MARK: - Files

  func begin(_ file: OpenFile) {
    if state.withLock({ $0.hasStopped }) { return }
    let path = file.path
    let epoch = Self.epoch(file)
    do {
      if let server = owners.claim(path, self) {
        throw ToolError("another entry of 'sync' has the file, with the server \(server)")
      }
      guard file.isWritable else {
        throw ToolError("the file cannot be written, so it is not synchronized")
      }
      let session = try session(of: file)
      let isLate = state.withLock { state in
        if state.hasStopped { return true }
        state.sessions[path] = Running(file: file, session: session)
        state.failed[path] = nil
        return false
      }
      if isLate { session.stop() }
    } catch {
      let failed = Failed(file: file, problem: "\(error)", epoch: epoch)
      let former = state.withLock { $0.failed.updateValue(failed, forKey: path) }
      if former?.problem != failed.problem { note(.error, failed.problem, path) }
    }
  }

  private static func epoch(_ file: OpenFile) -> UInt64? {
    (try? file.store.newestSnapshot()).map { UInt64($0.schema.epoch) }
  }

  /// Lets the next `retry` try all files again that have no session.
  func hurry() { state.withLock { $0.isHurried = true } }

  /// Tries files again that have no session, if their schemas have changed or some time has passed.
  /// Never waits: that is done in the turns of the files.
  func retry() {
    let (failed, isHurried) = state.withLock { state in
      defer { state.isHurried = false }
      return (state.hasStopped ? [] : Array(state.failed.values), state.isHurried)
    }
    for one in failed {
      let isDue = isHurried || ContinuousClock.now - one.time >= Self.patience
      guard isDue || Self.epoch(one.file) != one.epoch else { continue }
      let path = one.file.path
      guard state.withLock({ $0.retried.insert(path).inserted }) else { continue }
      files.inTurn(of: path) { [self] in
        // It may have ended since.
        if state.withLock({ $0.failed[path]?.file === one.file }) { begin(one.file) }
        state.withLock { _ = $0.retried.remove(path) }
      }
    }
  }

  private func session(of file: OpenFile) throws -> ReplicaSession {
    let chosen = try ChosenObjects(settings.conditions)
    let schema = try file.store.newestSnapshot().schema.schema
    let names = try ExchangedClasses.chosen(
      settings.classes + chosen.classNames, schema, file.path)
    if !chosen.isEmpty { try chosen.subscribe(file.store, others: settings.classes) }
    var address = try ServerAddress(settings.server)
    if let passfile = settings.passfile { address = address.setting(["passfile": passfile]) }
    if let time = settings.timeout { address = address.waiting(atMost: time) }
    let path = file.path
    return try ReplicaSession(file.store, classes: names, to: address) {
      [weak self] event in self?.note(event, path)
    }
  }

  private func note(_ event: SyncEvent, _ path: String) {
    switch event {
    case .isElsewhere(let who): note(.notice, "the session is elsewhere: \(who)", path)
    case .connected: note(.notice, "connected to \(settings.server)", path)
    case .refused(let commit):
      state.withLock { $0.refused[path, default: 0] += 1 }
      let names = Set(commit.objects.map(\.className)).sorted().joined(separator: ", ")
      note(
        .warning,
        "the server refused version \(commit.version), which changed objects of \(names): "
          + "\(commit.error)", path)
    case .waits(let why, let time):
      note(.warning, "\(why); trying again in \(time.rounded) s", path)
    case .notice(let notice): note(.warning, notice.text, path)
    case .joined: note(.notice, SyncEvent.joinedText, path)
    case .isUpToDate, .ended: break
    }
  }

  private func note(_ level: DaemonLog.Level, _ text: String, _ path: String) {
    log.write(level, printableLines(text), [("TARN_FILE", path)])
  }

  func end(_ path: String) {
    let session = state.withLock { state in
      state.failed[path] = nil
      return state.sessions.removeValue(forKey: path)?.session
    }
    session?.stop()
    owners.release(path, of: self)
  }

  func isWaiting(for path: String, _ reason: String) {
    note(.notice, "waiting for the file: \(reason)", path)
  }
}

/// The state of a file's session.
struct SyncStatus {
  let path: String
  let server: String
  /// Whether the daemon has begun a session.
  var hasSession = true
  var isConnected = false
  var isComplete = false
  var problem: String?
  var sent: UInt64 = 0
  var unsentObjects = 0
  /// The values of the server that the file has left out, up to a limit, and their number.
  var leftOut: [String] = []
  var leftOutCount = 0
  let refused: UInt64

  init(_ path: String, _ server: String, _ store: Store, refused: UInt64) {
    self.path = path
    self.server = server
    self.refused = refused
    guard let report = try? ReplicaReport.of(store) else { return }
    isConnected = report.isConnected
    isComplete = report.isComplete
    problem = report.problem
    sent = report.sent
    unsentObjects = report.unsentObjects
    leftOut = report.leftOut.map(\.text)
    leftOutCount = report.leftOutCount
  }

  /// One status for each file, where several entries of `sync` match it.
  static func merged(_ all: [SyncStatus]) -> [SyncStatus] {
    Dictionary(grouping: all, by: \.path).values.compactMap { several -> SyncStatus? in
      guard var one = several.first(where: \.hasSession) ?? several.first else { return nil }
      let problems = several.compactMap(\.problem)
      one.problem = problems.isEmpty ? nil : problems.joined(separator: "; ")
      return one
    }.sorted { $0.path < $1.path }
  }
}
