import TarnStore
import ToolSupport

/// Objects as a table for a person: as many columns as the width has room for, those of interest
/// first. What is cut ends with `…`, and so does the heading where columns are missing.
struct RowTable {
  /// Of a value that is longer no more is shown.
  private static let cellWidthMax = 40
  /// What a column of words must have at least.
  private static let cellWidthMin = 12
  private static let gap = 2

  private let view: ClassView
  private let leading: [TextTable.Column]
  private let candidates: [Int]
  private var rows: [[String]] = []
  /// Which columns are shown, and the table of them, once the first rows have decided it.
  private var settled: (shown: Int, table: TextTable)?

  /// - Parameters:
  ///   - leading: columns that stand before those of the class, and are always shown.
  ///   - highlighted: what the query is about: a person wants to see these columns first.
  init(_ view: ClassView, leading: [TextTable.Column] = [], highlighted: [String] = []) {
    self.view = view
    self.leading = leading
    // Columns that were asked for are shown as they were, and so are those of a table of its own.
    candidates =
      leading.isEmpty || view.showsSome
      ? Array(view.columns.indices) : Self.order(view, highlighted)
  }

  /// Columns in the order of interest: what the query is about, then the others. The one that
  /// names the object is not among them. Columns that were asked for stay in their order.
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

  /// The rows added since the last call; the first time with the headings.
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

  /// What columns are missing, in a line; nil if none are.
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
        // The sign for the others needs room as well.
        if room + Self.gap < (index + 1 < columns.count ? 1 + Self.gap : 0) { break }
        shown += 1
      }
      shown = max(shown, min(1, candidates.count))
    }
    let sign: [TextTable.Column] = shown < candidates.count ? [.init("…")] : []
    return (shown, TextTable(leading + columns.prefix(shown) + sign))
  }

  /// The width below which a column is not shown, with the gap after it.
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
