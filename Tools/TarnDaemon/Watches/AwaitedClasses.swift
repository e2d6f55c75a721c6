import TarnStore
import ToolSupport

/// Classes of a watch that a file does not have yet. The watch waits for them: the program that
/// makes them may be started later than the daemon.
struct AwaitedClasses: Error, Equatable, CustomStringConvertible {
  let names: [String]

  var description: String {
    (names.count == 1 ? "waiting for the class " : "waiting for the classes ")
      + names.map { "'\($0)'" }.joined(separator: ", ")
  }
}

extension StoreSchema {
  /// Whether the file has a class that can be watched.
  func has(_ className: String) -> Bool { named(className)?.isVacant == false }
}

extension WatchSettings {
  /// The same watch, limited to some of its classes; nil without classes.
  func of(_ some: [ClassSettings]) -> WatchSettings? {
    guard let first = some.first else { return nil }
    var watch = self
    watch.className = first.name
    watch.filter = first.filter
    watch.columns = first.columns
    watch.moreClasses = Array(some.dropFirst())
    return watch
  }
}

extension OpenFile {
  /// The classes of a watch that the file has, and the names of the others.
  func classes(of watch: WatchSettings) throws -> (present: [ClassSettings], awaited: [String]) {
    let schema = try store.newestSnapshot().schema.schema
    return (
      watch.classes.filter { schema.has($0.name) },
      watch.classes.map(\.name).filter { !schema.has($0) }
    )
  }
}

/// Which classes of a watch a file has, for one sink. Any thread.
final class PresentClasses: Sendable {
  private struct State {
    var watch: WatchSettings
    var awaited: [String] = []
  }

  private let all: WatchSettings
  private let file: OpenFile
  private let status: SinkStatus
  private let log: DaemonLog
  private let state: Lock<State>

  init(of watch: WatchSettings, in file: OpenFile, _ status: SinkStatus, _ log: DaemonLog) {
    all = watch
    self.file = file
    self.status = status
    self.log = log
    state = Lock(State(watch: watch))
  }

  /// The watch of the classes that were found last.
  var watch: WatchSettings { state.withLock { $0.watch } }

  /// Looks which classes the file has, and lets the status name the others.
  ///
  /// - Parameter isOwed: whether the consumer has objects of another file, or of a version that the
  ///   file does not have. It must learn that they are gone, even if the file lacks their classes.
  /// - Returns: the watch of the classes that the file has.
  /// - Throws: `AwaitedClasses` if it has none of them, and the consumer is owed nothing.
  func look(orIf isOwed: () throws -> Bool = { false }) throws -> WatchSettings {
    let (present, awaited) = try file.classes(of: all)
    let watch = all.of(present)
    state.withLock { state in
      state.awaited = awaited
      state.watch = watch ?? all
    }
    let text = awaited.isEmpty ? nil : "\(AwaitedClasses(names: awaited))"
    if status.waits(for: text), let text {
      log.write(.notice, "\(file.path): \(text)", of: status)
    }
    if let watch { return watch }
    guard try isOwed() else { throw AwaitedClasses(names: awaited) }
    var nothing = all
    nothing.selectsNothing = true
    return nothing
  }

  /// Whether the file had none of the classes.
  var areAllAwaited: Bool { state.withLock { $0.awaited.count } == all.classes.count }

  /// Whether the file has got a class that is awaited.
  var haveGrown: Bool {
    let awaited = state.withLock { $0.awaited }
    if awaited.isEmpty { return false }
    return (try? file.classes(of: all).awaited).map { $0 != awaited } ?? false
  }

  /// Whether a schema has a class that is awaited.
  func areMissed(in schema: StoreSchema) -> Bool {
    state.withLock { $0.awaited }.contains { schema.has($0) }
  }
}
