/// Rows of text under headings, each column as wide as its widest cell.
package struct TextTable: Sendable {
  /// The alignment of a column's cells: words left, figures right.
  package enum Alignment: Sendable { case left, right }

  package struct Column: Sendable {
    package let title: String
    package let alignment: Alignment

    package init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }
  }

  private let columns: [Column]
  private var rows: [[String]] = []
  /// The widths of the columns, once `takeText` has determined them.
  private var settled: [Int]?

  package init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row. Cells are made `printable`; missing ones are empty.
  /// - Precondition: there are no more cells than columns.
  package mutating func add(_ cells: [String]) {
    precondition(cells.count <= columns.count, "a row has more cells than the table has columns")
    let missing = Array(repeating: "", count: columns.count - cells.count)
    rows.append(cells.map(printable) + missing)
  }

  /// The table's lines, each with a line feed and without trailing spaces. With a width, the widest
  /// left-aligned columns are cut until the lines fit; figures are never cut.
  package func text(width: Int? = nil, terminal: Terminal? = nil) -> String {
    let widths = fit(width)
    var text = line(columns.map(\.title), widths) { terminal?.styled($0, .bold) ?? $0 }
    for row in rows { text += line(row, widths) { $0 } }
    return text
  }

  /// The lines of the rows added since the last call, the first time with the headings. The rows of
  /// the first call determine the widths: wider cells of later rows are cut or, without a given
  /// width, overflow.
  package mutating func takeText(width: Int?, terminal: Terminal? = nil) -> String {
    var text = ""
    let widths = settled ?? fit(width)
    if settled == nil {
      text = line(columns.map(\.title), widths) { terminal?.styled($0, .bold) ?? $0 }
    }
    for row in rows { text += line(row, widths, cuts: width != nil) { $0 } }
    settled = widths
    rows = []
    return text
  }

  private func fit(_ width: Int?) -> [Int] {
    var widths = columns.indices.map { column in
      rows.reduce(displayWidth(columns[column].title)) { max($0, displayWidth($1[column])) }
    }
    guard let width else { return widths }
    while widths.reduce(0, +) + 2 * (widths.count - 1) > width {
      let candidates = columns.indices.filter { columns[$0].alignment == .left && widths[$0] > 8 }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    return widths
  }

  private func line(
    _ cells: [String], _ widths: [Int], cuts: Bool = true, _ style: (String) -> String
  ) -> String {
    var text = ""
    for (column, cell) in cells.enumerated() {
      if column > 0 { text += "  " }
      let isFigure = columns[column].alignment == .right
      let shown = cuts && !isFigure ? truncated(cell, toWidth: widths[column]) : cell
      text += padded(shown, toWidth: widths[column], toRight: isFigure)
    }
    while text.last == " " { text.removeLast() }
    return style(text) + "\n"
  }
}
