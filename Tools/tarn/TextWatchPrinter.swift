import TarnStore
import TarnText
import ToolSupport

/// Lines for people, coloured on a terminal and cut to its width.
struct TextWatchPrinter: WatchPrinter {
  private let output: OutputPipe
  private let terminal: Terminal
  private let rowsShown: Int
  private let highlighted: [String]

  init(
    _ output: OutputPipe, _ terminal: Terminal, rowsShown: Int, highlighted: [String]
  ) {
    self.output = output
    self.terminal = terminal
    self.rowsShown = rowsShown
    self.highlighted = highlighted
  }

  private func width() -> Int? { terminal.isTerminal ? terminal.width : nil }

  // MARK: - The first state

  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: @escaping (Int) throws -> WatchedRow
  ) throws {
    try output.write(head(view, version, counted(count, view.rowName)))
    let shown = min(count, rowsShown)
    if shown == 0 { return }
    let keyName = view.schema.primaryKey.map { view.schema[$0].name } ?? "object"
    // The objects' names come first, unless `--columns` leaves them out.
    let key: [TextTable.Column] = view.showsSome ? [] : [.init(keyName)]
    var table = RowTable(view, leading: [.init("", .right)] + key, highlighted: highlighted)
    for index in 0..<shown {
      let row = try row(index)
      table.add(["\(index)"] + (key.isEmpty ? [] : [ValueText.shown(row.key)]), row.values)
    }
    try output.write(table.takeText(width: width(), terminal: terminal))
    if shown < count {
      try output.write(terminal.styled("  … and \(count - shown) more", .dim) + "\n")
    }
    if let note = table.note(width: width()) {
      try output.write(terminal.styled("  \(note)", .dim) + "\n")
    }
  }

  // MARK: - Differences

  func difference(_ view: ClassView, _ difference: WatchedDifference) throws {
    let sums = difference.summary { terminal.styled("\($1.sign)\($0)", $1.style) }
    let now = "\(sums)  now \(counted(difference.count, view.rowName))"
    try output.write(head(view, difference.version, now))
    let from = Set(difference.moves.map { $0.from })
    let to = Dictionary(uniqueKeysWithValues: difference.moves.map { ($0.to, $0.from) })
    let olds = Dictionary(
      difference.deletions.compactMap { row in row.index.map { ($0, row) } },
      uniquingKeysWith: { first, _ in first })
    for row in difference.deletions where row.index.map(from.contains) != true {
      try line("-", .red, row.index.map { "\($0)" }, row.name, values(row))
    }
    for row in difference.insertions {
      if let index = row.index, let start = to[index], let old = olds[start] {
        try move(WatchedModification(old, row))
      } else {
        try line("+", .green, row.index.map { "\($0)" }, row.name, values(row))
      }
    }
    for modification in difference.modifications {
      let position = modification.new.index.map { "\($0)" }
      try line("~", .yellow, position, modification.new.name, changes(modification))
    }
  }

  private func move(_ modification: WatchedModification) throws {
    let position = "\(modification.old.index ?? 0)→\(modification.new.index ?? 0)"
    try line("↕", .cyan, position, modification.new.name, changes(modification))
  }

  private func head(_ view: ClassView, _ version: Version, _ rest: String) -> String {
    let name = terminal.styled(printable(view.name), .bold)
    return "\(terminal.styled("version \(version.rawValue)", .dim))  \(name)  \(rest)\n"
  }

  private func line(
    _ sign: String, _ style: Terminal.Style, _ position: String?, _ name: Value?, _ text: String
  ) throws {
    let parts = [sign, position.map { "[\($0)]" }, name.map { ValueText.shown($0) }]
    let front = "  " + parts.compactMap { $0 }.joined(separator: " ")
    guard let width = width() else { return try output.write("\(front)  \(text)\n") }
    let head = truncated(front, toWidth: width - 1)
    let tail = truncated("  " + text, toWidth: width - 1 - displayWidth(head))
    try output.write(terminal.styled(head, style) + tail + "\n")
  }

  private func values(_ row: WatchedRow) -> String {
    RowTable.order(row.view, highlighted).filter { !row.values[$0].isNull }.map { index in
      "\(printable(row.view.columns[index].name)) \(row.values[index].shown)"
    }.joined(separator: "  ")
  }

  private func changes(_ modification: WatchedModification) -> String {
    if modification.isEmpty { return "(rewritten, or changed via a link)" }
    func text(_ index: Int?, _ row: WatchedRow) -> (name: String, value: String)? {
      index.map { (printable(row.view.columns[$0].name), row.values[$0].shown) }
    }
    let values = modification.changed.map { column in
      let before = text(column.old, modification.old)
      let after = text(column.new, modification.new)
      if let before, let after, before.name != after.name {
        return "\(before.name) \(before.value) → \(after.name) \(after.value)"
      }
      let name = after?.name ?? before?.name ?? ""
      return "\(name) \(before?.value ?? "–") → \(after?.value ?? "–")"
    }
    return (values + modification.sequences.map(\.shown)).joined(separator: "  ")
  }
}
