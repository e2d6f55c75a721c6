import TarnStore
import ToolSupport

/// Shows what a watch finds.
protocol WatchPrinter {
  /// - Parameter row: the object at a position below `count`.
  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: (Int) throws -> WatchedRow) throws
  func difference(_ view: ClassView, _ difference: WatchedDifference) throws
}

/// One JSON object a line, every value in it.
struct JSONWatchPrinter: WatchPrinter {
  private let output: OutputPipe

  init(_ output: OutputPipe) { self.output = output }

  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: (Int) throws -> WatchedRow
  ) throws {
    var json = start(view, version)
    json.key("initial")
    json.beginArray()
    var keys: [Value] = []
    for index in 0..<count {
      let row = try row(index)
      view.write(row.values, to: &json)
      if view.keyPosition == nil { keys.append(row.key) }
      // What is gathered goes out in pieces; the pipe has a buffer of its own.
      if json.bytes.count > 1 << 15 { try output.write(json.takeBytes()) }
    }
    json.endArray()
    if view.keyPosition == nil { write(keys, to: &json) }
    json.endObject()
    json.endLine()
    try output.write(json.bytes)
  }

  /// What later lines name the objects by, where no property does.
  private func write(_ keys: [Value], to json: inout JSONText) {
    json.key("keys")
    json.beginArray()
    for key in keys { ValueText.write(key, to: &json) }
    json.endArray()
  }

  private func start(_ view: ClassView, _ version: Version) -> JSONText {
    var json = JSONText()
    json.beginObject()
    json.key("version")
    json.unsigned(version.rawValue)
    json.key("class")
    json.string(view.name)
    return json
  }

  func difference(_ view: ClassView, _ difference: WatchedDifference) throws {
    var json = start(view, difference.version)
    json.key("deletions")
    json.beginArray()
    for row in difference.deletions { write(row, "old", view, to: &json) }
    json.endArray()
    json.key("insertions")
    json.beginArray()
    for row in difference.insertions { write(row, "new", view, to: &json) }
    json.endArray()
    json.key("modifications")
    json.beginArray()
    for modification in difference.modifications { write(modification, view, to: &json) }
    json.endArray()
    json.endObject()
    json.endLine()
    try output.write(json.bytes)
  }

  private func begin(_ row: WatchedRow, to json: inout JSONText) {
    json.beginObject()
    if let index = row.index {
      json.key("index")
      json.integer(Int64(index))
    }
    json.key("key")
    ValueText.write(row.key, to: &json)
  }

  private func write(
    _ row: WatchedRow, _ name: String, _ view: ClassView, to json: inout JSONText
  ) {
    begin(row, to: &json)
    json.key(name)
    view.write(row.values, to: &json)
    json.endObject()
  }

  private func write(
    _ modification: WatchedModification, _ view: ClassView, to json: inout JSONText
  ) {
    begin(modification.old, to: &json)
    for (name, row) in [("old", modification.old), ("new", modification.new)] {
      json.key(name)
      json.beginObject()
      for place in modification.changed where place < row.values.count {
        json.key(view.columns[place].name)
        row.values[place].write(to: &json)
      }
      json.endObject()
    }
    if !modification.sequences.isEmpty {
      json.key("collections")
      json.beginArray()
      for sequence in modification.sequences { sequence.write(to: &json) }
      json.endArray()
    }
    json.endObject()
  }
}

/// Lines for a person: coloured on a terminal, and cut to its width there.
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

  /// Columns in the order of interest: what the query is about, then the others. The one that
  /// names the object stands before all of them anyway.
  private func places(_ view: ClassView) -> [Int] {
    var places: [Int] = []
    for name in highlighted {
      guard let place = view.columns.firstIndex(where: { $0.name == name }) else { continue }
      if !places.contains(place), place != view.keyPosition { places.append(place) }
    }
    let rest = view.columns.indices.filter { !places.contains($0) && $0 != view.keyPosition }
    return places + rest
  }

  // MARK: - The first state

  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: (Int) throws -> WatchedRow
  ) throws {
    try output.write(head(view, version, counted(count, "object")))
    let shown = min(count, rowsShown)
    if shown == 0 { return }
    let places = Array(places(view).prefix(columnsThatFit(view)))
    let keyName = view.keyPosition.map { view.columns[$0].name } ?? "object"
    var table = TextTable(
      [.init("", .right), .init(keyName)]
        + places.map { .init(view.columns[$0].name, alignment(view.columns[$0])) })
    for index in 0..<shown {
      let row = try row(index)
      table.add(
        ["\(index)", ValueText.shown(row.key)] + places.map { cell(row.values[$0]) })
    }
    try output.write(table.text(width: width(), terminal: terminal))
    if shown < count {
      try output.write(terminal.styled("  … and \(count - shown) more", .dim) + "\n")
    }
  }

  private func cell(_ field: Field) -> String {
    field.isNull ? "" : String(field.shown.prefix(40))
  }

  private func alignment(_ column: ColumnSchema) -> TextTable.Alignment {
    [.int, .float, .double].contains(column.type) ? .right : .left
  }

  /// A column wants some 14 places; more of them say less.
  private func columnsThatFit(_ view: ClassView) -> Int {
    min(5, max(2, ((width() ?? 100) - 24) / 14))
  }

  // MARK: - Differences

  func difference(_ view: ClassView, _ difference: WatchedDifference) throws {
    let moved = difference.moves.count
    var parts: [String] = []
    func count(_ number: Int, _ sign: String, _ style: Terminal.Style) {
      if number > 0 { parts.append(terminal.styled("\(sign)\(number)", style)) }
    }
    count(difference.insertions.count - moved, "+", .green)
    count(difference.deletions.count - moved, "-", .red)
    count(difference.modifications.count, "~", .yellow)
    count(moved, "↕", .cyan)
    let now = "\(parts.joined(separator: " "))  now \(counted(difference.count, "object"))"
    try output.write(head(view, difference.version, now))
    let from = Set(difference.moves.map { $0.from })
    let to = Dictionary(uniqueKeysWithValues: difference.moves.map { ($0.to, $0.from) })
    let olds = Dictionary(
      difference.deletions.compactMap { row in row.index.map { ($0, row) } },
      uniquingKeysWith: { first, _ in first })
    for row in difference.deletions where row.index.map(from.contains) != true {
      try line("-", .red, row.index.map { "\($0)" }, row.key, values(row, view))
    }
    for row in difference.insertions {
      if let index = row.index, let start = to[index], let old = olds[start] {
        try move(WatchedModification(old, row), view)
      } else {
        try line("+", .green, row.index.map { "\($0)" }, row.key, values(row, view))
      }
    }
    for modification in difference.modifications {
      let place = modification.new.index.map { "\($0)" }
      try line("~", .yellow, place, modification.new.key, changes(modification, view))
    }
  }

  private func move(_ modification: WatchedModification, _ view: ClassView) throws {
    let place = "\(modification.old.index ?? 0)→\(modification.new.index ?? 0)"
    try line("↕", .cyan, place, modification.new.key, changes(modification, view))
  }

  private func head(_ view: ClassView, _ version: Version, _ rest: String) -> String {
    let name = terminal.styled(printable(view.name), .bold)
    return "\(terminal.styled("version \(version.rawValue)", .dim))  \(name)  \(rest)\n"
  }

  private func line(
    _ sign: String, _ style: Terminal.Style, _ place: String?, _ key: Value, _ text: String
  ) throws {
    let front = "  \(sign) \(place.map { "[\($0)] " } ?? "")\(ValueText.shown(key))"
    guard let width = width() else { return try output.write("\(front)  \(text)\n") }
    let head = truncated(front, toWidth: width - 1)
    let tail = truncated("  " + text, toWidth: width - 1 - displayWidth(head))
    try output.write(terminal.styled(head, style) + tail + "\n")
  }

  private func values(_ row: WatchedRow, _ view: ClassView) -> String {
    places(view).filter { $0 < row.values.count && !row.values[$0].isNull }.map { place in
      "\(printable(view.columns[place].name)) \(row.values[place].shown)"
    }.joined(separator: "  ")
  }

  private func changes(_ modification: WatchedModification, _ view: ClassView) -> String {
    if modification.changed.isEmpty && modification.sequences.isEmpty {
      return "(written again, or changed behind a link)"
    }
    let values = modification.changed.map { place in
      let old = modification.old.values
      let before = place < old.count ? old[place].shown : "–"
      let after = modification.new.values[place].shown
      return "\(printable(view.columns[place].name)) \(before) → \(after)"
    }
    return (values + modification.sequences.map(\.shown)).joined(separator: "  ")
  }
}
