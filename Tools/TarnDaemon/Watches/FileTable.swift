import Dispatch
import Foundation
import TarnStore
import ToolSupport

/// The files of all watches: waits for those that do not exist yet, and notices those that were
/// replaced.
///
/// Each path has a turn of its own, in which its file is opened, begun and ended: whatever holds
/// one up, such as a long writer, another process that is opening the file, or a slow file system,
/// holds up no other file, nor the table itself. Any thread.
final class FileTable: Sendable {
  /// Called in the turn of the path, where it may wait.
  protocol Listener: AnyObject, Sendable {
    func begin(_ file: OpenFile)
    func end(_ path: String)
    /// Why the file at a path cannot be opened.
    func isWaiting(for path: String, _ reason: String)
  }

  private struct State {
    /// Runs with each look.
    var onLook: (@Sendable () -> Void)?
    var turns: [String: FileTurn] = [:]
    var patterns: [(pattern: String, listener: any Listener)] = []
    /// Whether no more files are opened.
    var isClosing = false
  }

  /// The turns that have work to do. A few work at the same time: each takes a thread. Those that
  /// take long do not count, so that they hold up no others.
  private struct Line {
    var waiting: [FileTurn] = []
    /// Since when they work.
    var working: [ObjectIdentifier: DispatchTime] = [:]
  }

  private static let workersMax = 8
  private static let isLong = DispatchTimeInterval.milliseconds(200)

  /// How often it looks for files.
  static let period = DispatchTimeInterval.milliseconds(500)

  private let queue = DispatchQueue(label: "tarn-files")
  private let state = Lock(State())
  private let line = Lock(Line())
  private nonisolated(unsafe) let timer: any DispatchSourceTimer  // because: set once

  init() {
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Self.period, repeating: Self.period)
    timer.setEventHandler { [weak self] in self?.look() }
    timer.resume()
  }

  deinit { timer.cancel() }

  /// What runs with each look, on the table's queue. It must not wait.
  func onLook(_ body: (@Sendable () -> Void)?) { state.withLock { $0.onLook = body } }

  /// Adds a listener for a path or a pattern.
  ///
  /// - Returns: a group that is empty when the files that are there now have begun, or cannot
  ///   begin.
  @discardableResult
  func add(_ pattern: String, _ listener: any Listener) -> DispatchGroup {
    let group = DispatchGroup()
    let isPattern = Self.isPattern(pattern)
    if isPattern { state.withLock { $0.patterns.append((pattern, listener)) } }
    for path in Self.paths(of: pattern) { add(listener, at: path, isNamed: !isPattern, group) }
    return group
  }

  /// Removes a listener. It is not called any more when this returns, which waits for the turns in
  /// which it is called at the moment.
  func remove(_ listener: any Listener) {
    // Files close outside of the lock, when the turns are released.
    let turns = state.withLock { state in
      state.patterns.removeAll { $0.listener === listener }
      let turns = state.turns.values.filter { $0.remove(listener) }
      state.turns = state.turns.filter { $0.value.hasListeners }
      return turns
    }
    for turn in turns { turn.waitUntilIdle() }
  }

  /// Stops opening files, and releases callers that wait for unopened ones. Returns at once.
  func closeSoon() {
    let turns = state.withLock { state in
      state.isClosing = true
      return Array(state.turns.values)
    }
    line.withLock { $0.waiting = [] }
    for turn in turns { turn.giveUp() }
  }

  /// The files that are open, and why others are not.
  var files: [(path: String, file: OpenFile?, reason: String?)] {
    state.withLock { $0.turns }.map { path, turn in
      let (file, reason) = turn.status
      return (path, file, reason)
    }.sorted { $0.0 < $1.0 }
  }

  /// Runs in the turn of a path, or on any queue if the table does not have it.
  func inTurn(of path: String, _ body: @escaping @Sendable () -> Void) {
    if let turn = state.withLock({ $0.turns[path] }) {
      turn.run(body)
    } else {
      DispatchQueue.global().async(execute: body)
    }
  }

  private func look() {
    forgetWhatIsGone()
    let turns = state.withLock { Array($0.turns.values) }
    for turn in turns {
      turn.endIfLost()
      turn.resumeWriting()
    }
    lazy var open = Self.byFile(turns)
    // A file that was moved ends at its former path before it begins at the new one. It may be
    // moved at any time: its former path is looked at after the new one.
    func isEnding(_ file: FileIdentity) -> Bool {
      open[file]?.contains { $0.endIfLost() } ?? false
    }
    for turn in turns where turn.isDue(besides: isEnding) { enqueue(turn) }
    for (pattern, listener) in state.withLock({ $0.patterns }) {
      for path in Self.paths(of: pattern) {
        add(listener, at: path, isNamed: false, nil, besides: isEnding)
      }
    }
    advance()
    state.withLock { $0.onLook }?()
  }

  private static func byFile(_ turns: [FileTurn]) -> [FileIdentity: [FileTurn]] {
    var found: [FileIdentity: [FileTurn]] = [:]
    for turn in turns {
      if let file = turn.status.file { found[file.identity, default: []].append(turn) }
    }
    return found
  }

  private func enqueue(_ turn: FileTurn) {
    line.withLock { $0.waiting.append(turn) }
    advance()
  }

  /// Lets turns work, the first ones first.
  private func advance() {
    if state.withLock({ $0.isClosing }) { return }
    let now = DispatchTime.now()
    let next = line.withLock { line -> [FileTurn] in
      let busy = line.working.values.count { $0 + Self.isLong > now }
      let next = Array(line.waiting.prefix(max(0, Self.workersMax - busy)))
      line.waiting.removeFirst(next.count)
      for turn in next { line.working[ObjectIdentifier(turn)] = now }
      return next
    }
    for turn in next {
      turn.work { [self] in
        line.withLock { _ = $0.working.removeValue(forKey: ObjectIdentifier(turn)) }
        advance()
      }
    }
  }

  /// Files that only patterns have found, and that are there no more.
  private func forgetWhatIsGone() {
    let gone = state.withLock { Array($0.turns.values) }.filter(\.isGone)
    state.withLock { state in
      for turn in gone where turn.mayGo { state.turns[turn.path] = nil }
    }
  }

  private func add(
    _ listener: any Listener, at path: String, isNamed: Bool, _ group: DispatchGroup?,
    besides isEnding: (FileIdentity) -> Bool = { _ in false }
  ) {
    let turn = state.withLock { state -> FileTurn? in
      if state.isClosing { return nil }
      let turn = state.turns[path] ?? FileTurn(path)
      state.turns[path] = turn
      // Under this lock, so that the turn is not forgotten meanwhile.
      return turn.add(listener, isNamed: isNamed, group) ? turn : nil
    }
    if let turn, turn.isDue(besides: isEnding) { enqueue(turn) }
  }

  // MARK: - Patterns

  static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")].contains($0) }
  }

  /// The paths that match; of a path without a pattern that itself.
  static func paths(of pattern: String) -> [String] {
    guard isPattern(pattern) else { return [pattern] }
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0 else { return [] }
    let paths = (0..<Int(found.gl_pathc)).compactMap { index in
      found.gl_pathv[index].map { String(path: $0) }
    }
    // The companions of a store, whose names begin with its own.
    return WatchedPaths.distinct(
      paths.filter { path in
        !["-lock", ".lock", "-signal", ".signal"].contains { path.endsWithBytes(of: $0) }
      })
  }
}
