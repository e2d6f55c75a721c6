import TarnStore
import ToolSupport

/// A table of objects for people, with as many columns as fit the width, the most relevant first. A
/// value or heading that is cut ends with `…`.
struct RowTable {
  /// The most characters shown of a value.
  private static let cellWidthMax = 40
  /// The least width of a column of strings.
  private static let cellWidthMin = 12
  private static let gap = 2

  private let view: ClassView
  private let leading: [TextTable.Column]
  private let candidates: [Int]
  private var rows: [[String]] = []
  /// How many columns are shown, and their table, determined by the first rows.
  private var settled: (shown: Int, table: TextTable)?

  /// - Parameters:
  /// - leading: columns in front of those of the class, always shown.
  /// - highlighted: the columns that the query uses, which people want to see first.
  init(_ view: ClassView, leading: [TextTable.Column] = [], highlighted: [String] = []) {
    self.view = view
    self.leading = leading
    // Columns that were asked for keep their order, and so do those of groups.
    candidates =
      leading.isEmpty || view.showsSome
      ? Array(view.columns.indices) : Self.order(view, highlighted)
  }

  /// Columns by relevance: those of the query, then the others, without the one that names the
  /// object. Columns that were asked for keep their order.
  static func order(_ view: ClassView, _ highlighted: [String]) -> [Int] {
    var order: [Int] = []
    for name in view.showsSome ? [] : highlighted {
      guard let index = view.columns.firstIndex(where: { $0.name == name }) else { continue }
      if !order.contains(index), index != view.keyPosition { order.append(index) }
    }
    return order
      + view.columns.indices.filter { !order.contains($0) && $0 != view.keyPosition }
  }

  mutating func add(_ front: [String] = [], _ values: [Field]) {
    rows.append(front + candidates.map { Self.cell(values[$0]) })
  }

  private static func cell(_ field: Field) -> String {
    field.isNull ? "" : truncated(field.shown, toWidth: cellWidthMax)
  }

  /// The text of the rows added since the last call; the first text includes the headings.
  mutating func takeText(width: Int?, terminal: Terminal) -> String {
    var (shown, table) = settled ?? settle(width)
    let isCut = shown < candidates.count
    for row in rows {
      table.add(Array(row.prefix(leading.count + shown)) + (isCut ? ["…"] : []))
    }
    rows = []
    let text = table.takeText(width: width, terminal: terminal)
    settled = (shown, table)
    return text
  }

  /// A line that lists the missing columns; nil if none is missing.
  func note(width: Int?) -> String? {
    guard let shown = settled?.shown, shown < candidates.count else { return nil }
    let names = candidates[shown...].map { printable(view.columns[$0].name) }
    let text = "… columns not shown (--columns): \(names.joined(separator: ", "))"
    return width.map { truncated(text, toWidth: $0 - 3) } ?? text
  }

  private func settle(_ width: Int?) -> (Int, TextTable) {
    let columns = candidates.map { index in
      let column = view.columns[index]
      return TextTable.Column(printable(column.name), Self.isFigure(column) ? .right : .left)
    }
    var shown = candidates.count
    if let width {
      var room = width - (0..<leading.count).reduce(0) { $0 + needed($1, leading[$1]) }
      shown = 0
      for (index, column) in columns.enumerated() {
        room -= needed(leading.count + index, column)
        // The `…` for the other columns needs room, too.
        if room + Self.gap < (index + 1 < columns.count ? 1 + Self.gap : 0) { break }
        shown += 1
      }
      shown = max(shown, min(1, candidates.count))
    }
    let sign: [TextTable.Column] = shown < candidates.count ? [.init("…")] : []
    return (shown, TextTable(leading + columns.prefix(shown) + sign))
  }

  /// The least width at which the column is shown, with the gap after it.
  private func needed(_ index: Int, _ column: TextTable.Column) -> Int {
    let title = displayWidth(column.title)
    let widest = rows.reduce(title) { max($0, displayWidth($1[index])) }
    let isWhole = column.alignment == .right || index < leading.count
    return Self.gap + (isWhole ? widest : min(widest, max(title, Self.cellWidthMin)))
  }

  private static func isFigure(_ column: ColumnSchema) -> Bool {
    column.collection == .none && [.int, .float, .double, .decimal].contains(column.type)
  }
}
