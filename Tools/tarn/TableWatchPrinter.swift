import Foundation
import TarnStore
import ToolSupport

/// What `tarn watch --table` draws: the rows of a result as they are now, on a screen of its own.
///
/// Differences are applied as a table view would apply them. What has just been inserted, changed,
/// moved or deleted is marked for a moment. Only the rows on the screen are read.
final class TableWatchPrinter: WatchPrinter {
  private let output: OutputPipe
  private let terminal: Terminal
  private let highlighted: [String]
  private let keys: TerminalKeys?
  private var viewport: TableViewport<WatchedRow>
  private var isEntered = false
  /// The table's columns and its headings, as the first picture of the class at this size had them.
  private var layout: (table: RowTable, headings: String, view: ClassView, size: Size)?
  private var size: Size
  private var view: ClassView?
  private var version = Version.zero
  private var row: (Int) throws -> WatchedRow = { _ in
    throw ToolError("there is nothing to show yet")
  }
  private var news: WatchedDifference?

  private struct Size: Equatable {
    var width: Int
    var height: Int
  }

  /// Lines of the screen that are no rows: the headings, and the state at the bottom.
  private static let otherLines = 2

  init(_ output: OutputPipe, _ terminal: Terminal, highlighted: [String]) {
    self.output = output
    self.terminal = terminal
    self.highlighted = highlighted
    keys = TerminalKeys(descriptor: isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : STDOUT_FILENO)
    size = Size(width: terminal.width, height: terminal.height)
    viewport = TableViewport(count: 0, height: size.height - Self.otherLines)
  }

  deinit { leave() }

  /// Where keys come from, -1 if nowhere.
  var keyDescriptor: Int32 { keys?.descriptor ?? -1 }

  // MARK: - What there is

  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: @escaping (Int) throws -> WatchedRow
  ) throws {
    self.view = view
    self.version = version
    self.row = row
    viewport = TableViewport(count: count, height: size.height - Self.otherLines)
    try output.write(TerminalKeys.enterScreen)
    isEntered = true
    try draw()
  }

  func difference(
    _ view: ClassView, _ difference: WatchedDifference
  ) throws {
    self.view = view
    version = difference.version
    news = difference
    var positions = TableViewport<WatchedRow>.Difference()
    positions.deletions = difference.deletions.compactMap(\.index)
    positions.insertions = difference.insertions.compactMap(\.index)
    positions.modifications = difference.modifications.compactMap { modification in
      modification.old.index.flatMap { old in modification.new.index.map { (old, $0) } }
    }
    positions.moves = difference.moves.map { ($0.from, $0.to) }
    let olds = Dictionary(
      difference.deletions.compactMap { row in row.index.map { ($0, row) } }
    ) { first, _ in first }
    viewport.apply(positions, now: .now) { olds[$0] }
    try draw()
  }

  // MARK: - Keys and time

  /// Does what the keys say, and lets marks go that were shown for long enough.
  ///
  /// - Returns: false if the person has had enough.
  func tick() throws -> Bool {
    var isStale = viewport.expire(now: .now)
    for key in keys?.pressed() ?? [] {
      isStale = true
      switch key {
      case .up: viewport.scroll(by: -1)
      case .down: viewport.scroll(by: 1)
      case .pageUp: viewport.scroll(by: -viewport.height)
      case .pageDown: viewport.scroll(by: viewport.height)
      case .home: viewport.scroll(to: 0)
      case .end: viewport.scrollToEnd()
      case .quit: return false
      }
    }
    let current = Size(width: terminal.width, height: terminal.height)
    if current != size {
      size = current
      viewport.resize(height: size.height - Self.otherLines)
      isStale = true
    }
    if isStale { try draw() }
    return true
  }

  // MARK: - Drawing

  private func draw() throws {
    guard isEntered, let view else { return }
    var layout =
      try self.layout.flatMap { $0.size == size && $0.view == view ? $0 : nil }
      ?? makeLayout(view)
    var text = "\u{1b}[H" + line(layout.headings, .bold)
    for shown in viewport.lines {
      switch shown {
      case .row(let position, let mark):
        text += line(cells(try row(position), at: position, mark?.sign, &layout.table), mark?.style)
      case .deleted(let row):
        text += line(cells(row, at: nil, "-", &layout.table), .red)
      }
    }
    self.layout = layout
    // What is below the last row goes, then the state is written into the last line.
    text += "\u{1b}[J\u{1b}[\(size.height);1H" + state(view)
    try output.write(text)
    _ = try output.writeWhatGoes()
  }

  private func makeLayout(
    _ view: ClassView
  ) throws -> (table: RowTable, headings: String, view: ClassView, size: Size) {
    let keyName = view.schema.primaryKey.map { view.schema[$0].name } ?? "object"
    let key: [TextTable.Column] = view.showsSome ? [] : [.init(keyName)]
    var table = RowTable(
      view, leading: [.init(" "), .init("", .right)] + key, highlighted: highlighted)
    // The rows that are there decide how wide the columns are.
    for case .row(let position, _) in viewport.lines {
      let row = try row(position)
      table.add(front(row, at: position, nil, view), row.values)
    }
    let text = table.takeText(width: size.width, terminal: terminal.plain)
    let headings = text.prefix { $0 != "\n" }
    return (table, String(headings), view, size)
  }

  private func front(_ row: WatchedRow, at position: Int?, _ sign: String?, _ view: ClassView)
    -> [String]
  {
    [sign ?? " ", position.map { "\($0)" } ?? ""]
      + (view.showsSome ? [] : [ValueText.shown(row.key)])
  }

  /// A row's cells, without the line feed. A row of another version of the class has no columns
  /// here that it could be shown in.
  private func cells(
    _ row: WatchedRow, at position: Int?, _ sign: String?, _ table: inout RowTable
  ) -> String {
    guard let view, row.view == view else { return "\(sign ?? " ")  \(ValueText.shown(row.key))" }
    table.add(front(row, at: position, sign, view), row.values)
    return String(table.takeText(width: size.width, terminal: terminal.plain).prefix { $0 != "\n" })
  }

  private func line(_ text: String, _ style: Terminal.Style?) -> String {
    let cut = truncated(text, toWidth: size.width)
    return (style.map { terminal.styled(cut, $0) } ?? cut) + "\u{1b}[K\r\n"
  }

  /// The version, what is shown of how much, what happened last, and the keys, as far as they fit.
  private func state(_ view: ClassView) -> String {
    let rows = viewport.lines.count { if case .row = $0 { true } else { false } }
    let place = rows == 0 ? "" : "  rows \(viewport.top)–\(viewport.top + rows - 1)"
    let start =
      "version \(version.rawValue)  \(printable(view.name))  "
      + counted(viewport.count, "object") + place
    var text = terminal.styled(truncated(start, toWidth: size.width), .dim)
    var room = size.width - displayWidth(start)
    func add(_ more: String, _ styled: String) {
      guard !more.isEmpty, displayWidth(more) + 2 <= room else { return }
      room -= displayWidth(more) + 2
      text += "  \(styled)"
    }
    add(
      news?.summary { "\($1.sign)\($0)" } ?? "",
      news?.summary { terminal.styled("\($1.sign)\($0)", $1.style) } ?? "")
    let help = "↑↓ PgUp PgDn Home End, q quits"
    add(help, terminal.styled(help, .dim))
    return text + "\u{1b}[K"
  }

  // MARK: - The end

  /// Gives the terminal back as it was.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    output.giveUp()
    // Past the output, which takes nothing any more after a signal.
    let bytes = Array(TerminalKeys.leaveScreen.utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }
}

extension TableViewport.Mark {
  fileprivate var sign: String { kind.sign }
  fileprivate var style: Terminal.Style { kind.style }

  private var kind: WatchedDifference.Kind {
    switch self {
    case .inserted: .insertion
    case .modified: .modification
    case .moved: .move
    }
  }
}
