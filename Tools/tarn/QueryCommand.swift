import TarnStore
import ToolSupport

/// The arguments of `query` and `count`: a class, a filter and an order.
struct ObjectQuery {
  private let path: String
  private let className: String
  private let condition: Condition
  private let order: [OrderTerm]
  private let columns: [String]?

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.required("CLASS")
    condition = try StoreAccess.condition(arguments)
    order = try StoreAccess.order(arguments)
    columns = try StoreAccess.columns(arguments)
  }

  /// Calls `body` with the class and the query's result in the newest version of the file.
  func run(
    _ body: (ClassView, CompiledQuery, SnapshotReader) throws -> Void
  ) throws {
    let store = try StoreAccess.openExisting(path)
    let reader = try SnapshotReader(store.newestSnapshot())
    let view = try ClassView.named(className, in: reader.schema, path, only: columns)
    try body(view, condition.query(on: view.id, reader.schema, sorted: order), reader)
  }
}

extension OrderedRoot {
  /// Calls `body` with the keys in order, for the positions of `window` that exist.
  func forEach(in window: Range<Int>, _ body: (ObjectKey) throws -> Void) throws {
    var failure: (any Error)?
    forEachKey(in: window.clamped(to: 0..<count)) { key in
      do {
        try Interruption.check()
        try body(key)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }
}

/// `tarn query`: prints the objects of one version that a filter matches, as a table, JSON Lines or
/// CSV.
struct QueryCommand {
  /// How many rows determine the widths of a table's columns.
  private static let rowsOfTable = 500

  private let query: ObjectQuery
  private let window: Range<Int>
  private let format: ObjectFormat?
  private let explains: Bool
  private let groups: GroupQuestion?
  private let terminal: Terminal

  init(_ arguments: ParsedArguments) throws {
    query = try ObjectQuery(arguments)
    explains = arguments.has("explain")
    groups = try GroupQuestion(arguments)
    window = try StoreAccess.window(arguments)
    let formats = ["table", "json", "csv"].filter(arguments.has)
    guard formats.count < 2 else {
      throw UsageError("--\(formats[0]) and --\(formats[1]) cannot be combined")
    }
    terminal = try StoreAccess.terminal(arguments)
    format = arguments.has("json") ? .jsonLines : arguments.has("csv") ? .csv : nil
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    try query.run { view, query, reader in
      if explains {
        return try output.explain(query, reader, in: window, isGrouped: groups != nil)
      }
      if let groups {
        return try groups.write(query, reader, format, in: window, output, terminal)
      }
      let root = try query.evaluate(Rows(reader))
      if let format {
        try ObjectWriter(view, reader, output).write(root, format, in: window)
      } else {
        try writeTable(root, view, reader, output)
      }
    }
    return .success
  }

  private func writeTable(
    _ root: OrderedRoot, _ view: ClassView, _ reader: SnapshotReader, _ output: OutputPipe
  ) throws {
    let width = terminal.isTerminal ? terminal.width : nil
    var table = RowTable(view)
    var waiting = 0
    func show() throws {
      try output.write(table.takeText(width: width, terminal: terminal))
      waiting = 0
    }
    try root.forEach(in: window) { key in
      guard let fields = try view.fields(of: key, Rows(reader)) else { return }
      table.add([], fields)
      waiting += 1
      if waiting == Self.rowsOfTable { try show() }
    }
    try show()
    if let note = table.note(width: width) {
      try output.write(terminal.styled(note, .dim) + "\n")
    }
  }
}

extension OutputPipe {
  /// Prints the query plan for `--explain`: how the result would be found now, and what later
  /// commits cost a watch.
  func explain(
    _ query: CompiledQuery, _ reader: SnapshotReader, in window: Range<Int> = 0..<(.max),
    isGrouped: Bool = false
  ) throws {
    let rows = Rows(reader)
    let lines: [String]
    if isGrouped {
      lines = try query.explanation(rows) + ["keep: each commit changes the groups that it touches"]
    } else if window == 0..<(.max) {
      lines = try ResultModel(.query(query)).explanation(rows)
    } else {
      lines = try ResultModel(.query(query), window: window).explanation(rows)
    }
    for line in lines { try write(printableLines(line) + "\n") }
  }
}

/// `tarn count`: prints how many objects a filter matches.
struct CountCommand {
  private let query: ObjectQuery
  private let explains: Bool

  init(_ arguments: ParsedArguments) throws {
    query = try ObjectQuery(arguments)
    explains = arguments.has("explain")
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    try query.run { view, query, reader in
      if explains { return try output.explain(query, reader) }
      let count =
        query.isUnfiltered
        ? try reader.record(of: view.id).rowCount : try query.evaluate(Rows(reader)).count
      try output.write("\(count)\n")
    }
    return .success
  }
}
