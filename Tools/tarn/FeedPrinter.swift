import Tarn
import TarnStore
import TarnText
import ToolSupport

/// Prints the batches of a cursor.
protocol FeedPrinter {
  /// - Parameter classes: those to print, in their order.
  func print(_ batch: ChangeBatch, _ classes: [ClassSchema]) throws
}

/// One JSON object a line for each batch; see `FeedLine`.
struct JSONFeedPrinter: FeedPrinter {
  private let output: OutputPipe
  private let columns: ChosenColumns?

  init(_ output: OutputPipe, _ columns: ChosenColumns?) {
    self.output = output
    self.columns = columns
  }

  func print(_ batch: ChangeBatch, _ classes: [ClassSchema]) throws {
    var first = 1
    for (place, described) in classes.enumerated() {
      let line = FeedLine(
        batch, ofClass: described.name, columns: columns,
        parts: FeedLine.Parts(first: first, isEnd: place + 1 == classes.count))
      while let piece = try line.next() { try output.write(piece) }
      first = line.nextPart
    }
  }
}

/// Lines for people.
struct TextFeedPrinter: FeedPrinter {
  private let output: OutputPipe
  private let terminal: Terminal
  private let columns: ChosenColumns?
  private let schema: () throws -> StoreSchema

  init(
    _ output: OutputPipe, _ terminal: Terminal, _ columns: ChosenColumns?,
    _ schema: @escaping () throws -> StoreSchema
  ) {
    self.output = output
    self.terminal = terminal
    self.columns = columns
    self.schema = schema
  }

  func print(_ batch: ChangeBatch, _ classes: [ClassSchema]) throws {
    for described in classes { try print(batch, described) }
  }

  private func print(_ batch: ChangeBatch, _ described: ClassSchema) throws {
    let changes = batch.changes(ofClass: described.name)
    let lines = RecordedLines(schema: try schema(), columns: columns, terminal)
    let head = terminal.styled("version \(batch.to)  \(printable(described.name))", .bold)
    if let reason = batch.fullResync {
      try output.write("\(head)  full resync (\(reason))\n")
      let objects = try batch.selectedObjects(ofClass: described.name)
      for position in 0..<objects.count {
        let (identity, values) = try objects.object(at: position)
        try output.write(lines.line("=", .dim, identity, lines.text(values, described)))
      }
      return
    }
    let note = batch.isRepeated ? ", some of it again" : ""
    try output.write("\(head)  since version \(batch.from)\(note)\n")
    try output.write(lines.text(changes.readRecorded(), described))
  }
}

/// Changes as lines for people: `+` for new objects, `~` for modified ones, `-` for deleted ones.
struct RecordedLines {
  private let json: RecordedJSON
  private let terminal: Terminal

  init(schema: StoreSchema, columns: ChosenColumns? = nil, _ terminal: Terminal) {
    json = RecordedJSON(schema: schema, columns: columns)
    self.terminal = terminal
  }

  func text(_ changes: [RecordedChange], _ described: ClassSchema) -> String {
    changes.map { change in
      switch change.kind {
      case .inserted, .replaced,
        .entered where change.oldValues.isEmpty:
        line("+", .green, change.identity, text(change.values ?? [:], described))
      case .modified, .entered:
        line("~", .yellow, change.identity, differences(change, described))
      case .deleted: line("-", .red, change.identity, text(change.oldValues, described))
      case .left, .gone: line("-", .red, change.identity, change.kind.rawValue)
      }
    }.joined()
  }

  func line(
    _ sign: String, _ style: Terminal.Style, _ identity: ObjectIdentity, _ rest: String
  ) -> String {
    let name = printable(shown(RecordedJSON.name(of: identity)))
    return "  \(terminal.styled(sign, style)) \(name)\(rest.isEmpty ? "" : "  " + rest)\n"
  }

  func text(_ values: [String: RecordedValue], _ described: ClassSchema) -> String {
    columns(values, described).map { column, value in
      "\(printable(column.name)): \(text(value, column))"
    }.joined(separator: ", ")
  }

  /// The assigned properties, with their old values if known.
  private func differences(_ change: RecordedChange, _ described: ClassSchema) -> String {
    let assigned = Set(change.properties)
    let values = (change.values ?? [:]).filter { assigned.contains($0.key) }
    return columns(values, described).map { column, value in
      let old = change.oldValues[column.name].map { text($0, column) + " → " } ?? ""
      return "\(printable(column.name)): \(old)\(text(value, column))"
    }.joined(separator: ", ")
  }

  private func columns(
    _ values: [String: RecordedValue], _ described: ClassSchema
  ) -> [(ColumnSchema, RecordedValue)] {
    described.shownColumns.compactMap { column in
      guard json.writes(column, of: described), column.id != described.primaryKey else {
        return nil
      }
      return values[column.name].map { (column, $0) }
    }
  }

  private func text(_ value: RecordedValue, _ column: ColumnSchema) -> String {
    shown(json.property(value, column))
  }

  private func shown(_ value: JSONValue) -> String { Field.json(value).shown }
}
