import Foundation
import TarnStore
import ToolSupport

/// `tarn watch`: prints the objects, then each change as it happens, until a signal ends it or the
/// file is lost.
///
/// The changes are exact: they lead from the version shown last to the one shown next, however many
/// commits lie between. A slow reader holds no version: unread output waits in memory and in a
/// file, and commits meanwhile are merged into one change, printed when the reader has caught up.
struct WatchCommand {
  /// How long the reader may read nothing, once there is nothing more to follow, before its output
  /// is discarded.
  private static let patienceMilliseconds: Int32 = 1000

  /// Options that need a class.
  private static let optionsOfClass = [
    "where", "sort", "limit", "offset", "columns", "table", "explain", "group", "aggregates",
  ]

  private let path: String
  private let className: String?
  private let condition: Condition
  private let order: [OrderTerm]
  private let window: Range<Int>
  private let columns: [String]?
  private let groups: GroupQuestion?
  private let explains: Bool
  private let showsInitial: Bool
  private let usesJSON: Bool
  private let usesTable: Bool
  private let terminal: Terminal
  private let rowsShown: Int
  private let differencesMax: Int
  /// Nil without `--cursor`.
  private let ofCursor: CursorWatch?

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.positional("CLASS")
    condition = try StoreAccess.condition(arguments)
    order = try StoreAccess.order(arguments)
    window = try StoreAccess.window(arguments)
    columns = try StoreAccess.columns(arguments)
    groups = try GroupQuestion(arguments)
    explains = arguments.has("explain")
    showsInitial = !arguments.has("no-initial")
    usesJSON = arguments.has("json")
    usesTable = arguments.has("table")
    terminal = try StoreAccess.terminal(arguments)
    rowsShown = try arguments.integer("rows", default: 20, in: 0...(.max))
    ofCursor = try CursorWatch(arguments)
    differencesMax = try arguments.integer("exit-after", default: .max, in: 1...(.max))
    if usesTable, let other = ["json", "no-initial"].first(where: arguments.has) {
      throw UsageError("--table and --\(other) cannot be combined")
    }
    if className == nil,
      let option = Self.optionsOfClass.first(where: arguments.has)
    {
      throw UsageError("--\(option) needs a CLASS")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    if let ofCursor { return try ofCursor.run(output) }
    if explains { return try explain(output) }
    let stop = try StopSignal()
    let trap = stop.trap(output.cancel)
    defer { withExtendedLifetime(trap) {} }
    let store = try StoreAccess.openExisting(path)
    if let cause = store.environment.copyCause {
      stop.beginFollowing()
      return try showCopy(store, cause, output)
    }
    // Before the first state is read, so that no commit is missed in between.
    let follower = StoreFollower(store, stop)
    output.neverWait()
    let watched = try begin(store)
    stop.beginFollowing()
    return try follow(watched, store, follower, makePrinter(output), output)
  }

  /// Commits do not reach a private copy, so the watch ends after the first state.
  private func showCopy(
    _ store: Store, _ cause: StorageError, _ output: OutputPipe
  ) throws -> ExitCode {
    if showsInitial {
      let printer: any WatchPrinter = usesJSON ? JSONWatchPrinter(output) : makeText(output)
      try begin(store).showInitial(printer)
      try output.flush()
    }
    TarnProgram.complain(
      "\(path) cannot be watched: \(cause.detail). It is read from a private copy, which does not "
        + "follow commits")
    return .failure
  }

  /// Prints the query plan of the first state.
  private func explain(_ output: OutputPipe) throws -> ExitCode {
    let reader = try SnapshotReader(StoreAccess.openExisting(path).newestSnapshot())
    let view = try ClassView.named(className ?? "", in: reader.schema, path)
    let query = try condition.query(on: view.id, reader.schema, sorted: order)
    try output.explain(query, reader, in: window, isGrouped: groups != nil)
    return .success
  }

  /// A table needs a terminal; elsewhere the output is text.
  private func makePrinter(_ output: OutputPipe) -> any WatchPrinter {
    if usesJSON { return JSONWatchPrinter(output) }
    if usesTable, terminal.isTerminal {
      return TableWatchPrinter(output, terminal, highlighted: highlighted)
    }
    return makeText(output)
  }

  private func makeText(_ output: OutputPipe) -> TextWatchPrinter {
    TextWatchPrinter(output, terminal, rowsShown: rowsShown, highlighted: highlighted)
  }

  /// A separate function, so that only the result holds the first snapshot.
  private func begin(_ store: Store) throws -> any Watched {
    let snapshot = try store.newestSnapshot()
    guard let className else { return try WatchedClasses(snapshot) }
    let view = try ClassView.named(className, in: snapshot.schema, path, only: columns)
    if let groups {
      return try WatchedGroups(groups, of: view.schema, condition, window, snapshot)
    }
    return try WatchedResult(view, condition, order, window, snapshot)
  }

  /// Output that is unread when it returns is buffered and holds no version.
  private func follow(
    _ watched: any Watched, _ store: Store, _ follower: StoreFollower,
    _ printer: any WatchPrinter, _ output: OutputPipe
  ) throws -> ExitCode {
    if showsInitial { try watched.showInitial(printer) }
    let table = printer as? TableWatchPrinter
    defer { table?.leave() }
    var told = 0
    while told < differencesMax {
      let isWritten = try output.writeWhatGoes()
      if isWritten, watched.hasGathered {
        told += try watched.tellGathered(printer)
        continue
      }
      if let table, isWritten, try !table.tick() { return .success }
      let event = follower.wait(
        beyond: watched.snapshot.version, toWrite: !isWritten, keys: table?.keyDescriptor ?? -1)
      switch event {
      case .stopped, .readerGone: return .success
      case .writable, .silence, .keys: continue
      // Commits before the file was lost are still printed.
      case .news, .lost: told += try look(store, watched, isWritten ? printer : nil)
      }
      if event == .lost, told < differencesMax {
        return try end(follower, watched, printer, output)
      }
    }
    return .success
  }

  /// Advances to the newest version.
  ///
  /// - Parameter printer: nil while the output cannot be written.
  /// - Returns: the number of changes printed.
  private func look(
    _ store: Store, _ watched: any Watched, _ printer: (any WatchPrinter)?
  ) throws -> Int {
    let newest = try store.newestSnapshot()
    if newest.head == watched.snapshot.head { return 0 }
    let changes =
      newest.version == watched.snapshot.version
      ? ChangeSet(from: newest.version, to: newest.version)
      : try ChangeLog.changes(from: watched.snapshot, to: newest)
    if let printer, !changes.schemaChanged {
      return try watched.advance(to: newest, changes, printer)
    }
    try watched.gather(to: newest, changes)
    return 0
  }

  /// Ends the watch. A reader that still reads gets all output; one that does not is not waited
  /// for.
  private func end(
    _ follower: StoreFollower, _ watched: any Watched, _ printer: any WatchPrinter,
    _ output: OutputPipe
  ) throws -> ExitCode {
    (printer as? TableWatchPrinter)?.leave()
    TarnProgram.complain(
      "\(path) or its lock file was deleted, moved or replaced: it can no longer be watched")
    while true {
      if try output.writeWhatGoes() {
        guard watched.hasGathered else { return .failure }
        _ = try watched.tellGathered(printer)
        continue
      }
      switch follower.waitToWrite(milliseconds: Self.patienceMilliseconds) {
      case .writable: continue
      default:
        output.giveUp()
        return .failure
      }
    }
  }

  /// The properties that the query uses, which people want to see first.
  private var highlighted: [String] {
    order.compactMap(\.path.first?.propertyName) + condition.propertyNames
  }
}
