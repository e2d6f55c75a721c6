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
  private struct State {
    var sessions: [String: Running] = [:]
    var refused: [String: UInt64] = [:]
  }

  let settings: SyncSettings
  private let files: FileTable
  private let log: DaemonLog
  private let state = Lock(State())

  init(_ settings: SyncSettings, _ files: FileTable, _ log: DaemonLog) {
    self.settings = settings
    self.files = files
    self.log = log
  }

  /// Begins with the files that are there.
  func start() { files.add(settings.file, self) }

  /// Ends the sessions; what they do at the moment is ended in order.
  func stop() {
    files.remove(self)
    let sessions = state.withLock { state in
      defer { state.sessions = [:] }
      return Array(state.sessions.values)
    }
    for running in sessions { running.session.stop() }
  }

  /// The status of each file.
  var statuses: [SyncStatus] {
    state.withLock { state in state.sessions.map { ($0.key, $0.value.file, state.refused[$0.key]) }
    }
    .map { SyncStatus($0.0, settings.server, $0.1.store, refused: $0.2 ?? 0) }
  }

  // MARK: - Files

  func begin(_ file: OpenFile) {
    let path = file.path
    guard file.isWritable else {
      return note(.warning, "the file cannot be written, so it is not synchronized", path)
    }
    do {
      let session = try session(of: file)
      state.withLock { $0.sessions[path] = Running(file: file, session: session) }
    } catch {
      note(.error, "\(error)", path)
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
      note(.warning, "\(why); trying again in \(time.components.seconds) s", path)
    case .notice(let notice): note(.warning, notice.text, path)
    case .joined: note(.notice, SyncEvent.joinedText, path)
    case .isUpToDate, .ended: break
    }
  }

  private func note(_ level: DaemonLog.Level, _ text: String, _ path: String) {
    log.write(level, printableLines(text), [("TARN_FILE", path)])
  }

  func end(_ path: String) {
    state.withLock { $0.sessions.removeValue(forKey: path) }?.session.stop()
  }

  func isWaiting(for path: String, _ reason: String) {
    note(.notice, "waiting for the file: \(reason)", path)
  }
}

/// The state of a file's session.
struct SyncStatus {
  let path: String
  let server: String
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
}
