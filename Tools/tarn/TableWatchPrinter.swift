import Foundation
import TarnStore
import TarnText
import ToolSupport

/// The screen of `tarn watch --table`: the current rows of a result.
///
/// Changes are applied as a table view would apply them. Inserted, changed, moved and deleted rows
/// are marked for a moment. Only the rows on the screen are read.
final class TableWatchPrinter: WatchPrinter {
  private let output: OutputPipe
  private let terminal: Terminal
  private let highlighted: [String]
  private let keys: TerminalKeys?
  private var viewport: TableViewport<WatchedRow>
  private var isEntered = false
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

  /// Lines that do not show rows: the headings, and the status line at the bottom.
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

  /// The descriptor that keys are read from, -1 for none.
  var keyDescriptor: Int32 { keys?.descriptor ?? -1 }

  // MARK: - Contents

  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: @escaping (Int) throws -> WatchedRow
  ) throws {
    self.view = view
    self.version = version
    self.row = row
    viewport = TableViewport(count: count, height: size.height - Self.otherLines)
    try output.write(control: TerminalKeys.enterScreen)
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

  /// Handles keys, and removes marks that were shown long enough.
  ///
  /// - Returns: false if the user quits.
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
    let shown = try viewport.lines.map(Self.makeLine(reading: row))
    var texts = try layOut(shown, view)[...]
    var text = "\u{1b}[H" + line(texts.popFirst() ?? "", .bold)
    for (shown, cells) in zip(shown, texts) { text += line(cells, shown.kind?.style) }
    // Clears the lines below the last row, then writes the status line.
    text += "\u{1b}[J\u{1b}[\(size.height);1H" + state(view)
    try output.write(control: text)
    _ = try output.writeWhatGoes()
  }

  /// A row on the screen, with the kind of its change.
  private typealias ShownRow = (row: WatchedRow, kind: WatchedDifference.Kind?)

  private static func makeLine(
    reading row: @escaping (Int) throws -> WatchedRow
  ) -> (TableViewport<WatchedRow>.Line) throws -> ShownRow {
    { line in
      switch line {
      case .row(let position, let mark): (try row(position), mark?.kind)
      case .deleted(let row): (row, .deletion)
      }
    }
  }

  /// The headings, then the rows. The rows on the screen determine the widths.
  private func layOut(_ shown: [ShownRow], _ view: ClassView) throws -> [String] {
    let keyName = view.schema.primaryKey.map { view.schema[$0].name } ?? "object"
    let key: [TextTable.Column] = view.showsSome ? [] : [.init(keyName)]
    var table = RowTable(
      view, leading: [.init(" "), .init("", .right)] + key, highlighted: highlighted)
    for (row, kind) in shown {
      let position = kind == .deletion ? nil : row.index
      let front =
        [kind?.sign ?? " ", position.map { "\($0)" } ?? ""]
        + (view.showsSome ? [] : [ValueText.shown(row.key)])
      // A deleted row of an older version of the class does not fit these columns.
      let isSame = row.view == view
      table.add(front, isSame ? row.values : view.columns.map { _ in .value(.null) })
    }
    return table.takeText(width: size.width, terminal: terminal.plain)
      .splitASCII("\n", omittingEmpty: false).dropLast().map(String.init)
  }

  private func line(_ text: String, _ style: Terminal.Style?) -> String {
    let cut = truncated(text, toWidth: size.width)
    return (style.map { terminal.styled(cut, $0) } ?? cut) + "\u{1b}[K\r\n"
  }

  /// The version, the visible range, the last changes and the keys, as far as they fit.
  private func state(_ view: ClassView) -> String {
    let rows = viewport.lines.count { if case .row = $0 { true } else { false } }
    let range = rows == 0 ? "" : "  rows \(viewport.top)–\(viewport.top + rows - 1)"
    let start =
      "version \(version.rawValue)  \(printable(view.name))  "
      + counted(viewport.count, view.rowName) + range
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

  /// Restores the terminal.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    output.giveUp()
    // Written past the output buffer, which is closed after a signal.
    let bytes = Array(TerminalKeys.leaveScreen.utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }
}

extension TableViewport.Mark {
  fileprivate var kind: WatchedDifference.Kind {
    switch self {
    case .inserted: .insertion
    case .modified: .modification
    case .moved: .move
    }
  }
}
