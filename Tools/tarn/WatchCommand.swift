import Foundation
import TarnStore
import ToolSupport

/// `tarn watch`: what there is, then each difference as it happens, until a signal ends it.
///
/// The differences are exact: they lead from the version that was shown to the one shown next,
/// however many commits lie between them. The old version is held until the difference has been
/// written, since the old values are read from it; a reader that is slow holds it longer.
struct WatchCommand {
  private let path: String
  private let className: String?
  private let condition: TarnStore.Predicate
  private let order: [OrderTerm]
  private let usesJSON: Bool
  private let color: String
  private let rowsShown: Int
  private let differencesMax: Int

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.positional("CLASS")
    condition = try StoreAccess.condition(arguments)
    order = try StoreAccess.order(arguments)
    usesJSON = arguments.has("json")
    color = try arguments.choice("color", of: ["auto", "always", "never"], default: "auto")
    rowsShown = try arguments.integer("rows", default: 20, in: 0...(.max))
    differencesMax = try arguments.integer("exit-after", default: .max, in: 1...(.max))
    if className == nil, arguments.has("where") || arguments.has("sort") {
      throw UsageError("--where and --sort need a CLASS")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let stop = try StopSignal()
    let cancel = output.cancel
    let trap = SignalTrap { _ in
      stop.request()
      cancel()
    }
    defer { withExtendedLifetime(trap) {} }
    let store = try StoreAccess.openExisting(path)
    // Before the first look, so that nothing can happen unnoticed between the two.
    let follower = StoreFollower(store, stop)
    let printer: any WatchPrinter =
      usesJSON
      ? JSONWatchPrinter(output)
      : TextWatchPrinter(
        output, .standardOutput.colored(color), rowsShown: rowsShown, highlighted: highlighted)
    let watched = try begin(store)
    try watched.showInitial(printer)
    try output.flush()
    return try follow(store, follower, watched, printer, output)
  }

  /// A function of its own, so that nothing but the result holds the first snapshot.
  private func begin(_ store: Store) throws -> any Watched {
    let snapshot = try store.newestSnapshot()
    guard let className else { return try WatchedClasses(snapshot) }
    return try WatchedResult(
      try ClassView.named(className, in: snapshot.schema, path), condition, order, snapshot)
  }

  private func follow(
    _ store: Store, _ follower: StoreFollower, _ watched: any Watched,
    _ printer: any WatchPrinter, _ output: OutputPipe
  ) throws -> ExitCode {
    var told = 0
    while told < differencesMax {
      switch follower.wait(beyond: watched.snapshot.version) {
      case .stopped, .readerGone: return .success
      case .news: break
      }
      let newest = try store.newestSnapshot()
      if newest.head == watched.snapshot.head { continue }
      let changes =
        newest.version == watched.snapshot.version
        ? ChangeSet(from: newest.version, to: newest.version)
        : try store.changes(after: watched.snapshot.version, upTo: newest)
      told += try watched.advance(to: newest, changes, printer)
      try output.flush()
    }
    return .success
  }

  /// The properties that the query is about: a person wants to see these first.
  private var highlighted: [String] {
    order.compactMap(\.path.first) + condition.propertyNames
  }
}

extension TarnStore.Predicate {
  /// The properties of the class itself that the condition names, in its order.
  var propertyNames: [String] {
    switch self {
    case .constant: return []
    case .and(let parts), .or(let parts): return parts.flatMap(\.propertyNames)
    case .not(let part): return part.propertyNames
    case .collection(let condition): return Array(condition.path.prefix(1))
    case .comparison(let comparison):
      return [comparison.left, comparison.right].compactMap { operand in
        if case .path(let names) = operand { names.first } else { nil }
      }
    }
  }
}
