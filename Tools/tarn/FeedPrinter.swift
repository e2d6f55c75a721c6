import Tarn
import TarnStore
import ToolSupport

/// Prints the batches of a cursor, of one class.
protocol FeedPrinter {
  func print(_ batch: ChangeBatch, _ described: ClassSchema) throws
}

/// One JSON object a line for each batch.
///
///     {"version":20,"from":17,"class":"Dog","position":"…","deleted":[{"key":1}],
///      "modified":[{"key":2,"properties":["age"],"old":{"age":3},"new":{"id":2,"age":4}}]}
///
/// A new beginning has `"startAnew":"expired"` and `"objects"` instead.
struct JSONFeedPrinter: FeedPrinter {
  private let output: OutputPipe
  private let schema: () throws -> StoreSchema

  init(_ output: OutputPipe, _ schema: @escaping () throws -> StoreSchema) {
    self.output = output
    self.schema = schema
  }

  func print(_ batch: ChangeBatch, _ described: ClassSchema) throws {
    var json = JSONText()
    json.beginObject()
    json.key("version")
    json.unsigned(batch.to)
    json.key("from")
    json.unsigned(batch.from)
    json.key("class")
    json.string(described.name)
    json.key("position")
    json.string(batch.position.description)
    let values = RecordedJSON(schema: try schema())
    if let reason = batch.startAnew {
      json.key("startAnew")
      json.string("\(reason)")
      try write(batch, described, values, to: &json)
    } else {
      if batch.isRepeated {
        json.key("repeated")
        json.bool(true)
      }
      let changes = batch.changes(ofClass: described.name)
      if changes.isCleared {
        json.key("cleared")
        json.bool(true)
      }
      values.write(changes.recorded, of: described, to: &json)
    }
    json.endObject()
    json.endLine()
    try output.write(json.takeBytes())
  }

  /// All objects that are selected.
  private func write(
    _ batch: ChangeBatch, _ described: ClassSchema, _ values: RecordedJSON,
    to json: inout JSONText
  ) throws {
    let changes = batch.changes(ofClass: described.name)
    json.key("objects")
    json.beginArray()
    for object in batch.objects(ofClass: described.name) {
      let identity = changes.identity(of: object)
      json.beginObject()
      json.key("key")
      json.value(RecordedJSON.name(of: identity))
      json.key("new")
      json.value(values.object(changes.values(of: identity) ?? [:], of: described))
      json.endObject()
      // Written in chunks; the pipe has a buffer of its own.
      if json.bytes.count > 1 << 15 { try output.write(json.takeBytes()) }
    }
    json.endArray()
  }
}

extension RecordedJSON {
  /// The changes of a class, as members of the object that is open.
  func write(_ changes: [RecordedChange], of described: ClassSchema, to json: inout JSONText) {
    for kind in RecordedChange.Kind.allCases {
      let ofKind = changes.filter { $0.kind == kind }
      if ofKind.isEmpty { continue }
      json.key(kind.rawValue)
      json.beginArray()
      for change in ofKind { write(change, described, to: &json) }
      json.endArray()
    }
  }

  private func write(
    _ change: RecordedChange, _ described: ClassSchema, to json: inout JSONText
  ) {
    json.beginObject()
    json.key("key")
    json.value(Self.name(of: change.identity))
    if !change.properties.isEmpty {
      json.key("properties")
      json.value(.array(change.properties.map { .string($0) }))
    }
    if !change.oldValues.isEmpty {
      json.key("old")
      json.value(object(change.oldValues, of: described))
    }
    if let values = change.values {
      json.key("new")
      json.value(object(values, of: described))
    }
    json.endObject()
  }
}

/// Lines for people.
struct TextFeedPrinter: FeedPrinter {
  private let output: OutputPipe
  private let terminal: Terminal
  private let schema: () throws -> StoreSchema

  init(
    _ output: OutputPipe, _ terminal: Terminal, _ schema: @escaping () throws -> StoreSchema
  ) {
    self.output = output
    self.terminal = terminal
    self.schema = schema
  }

  func print(_ batch: ChangeBatch, _ described: ClassSchema) throws {
    let changes = batch.changes(ofClass: described.name)
    let lines = RecordedLines(schema: try schema(), terminal)
    let head = terminal.styled("version \(batch.to)  \(printable(described.name))", .bold)
    if let reason = batch.startAnew {
      try output.write("\(head)  starts anew (\(reason))\n")
      for object in batch.objects(ofClass: described.name) {
        let identity = changes.identity(of: object)
        let values = changes.values(of: identity) ?? [:]
        try output.write(lines.line("=", .dim, identity, lines.text(values, described)))
      }
      return
    }
    let note = batch.isRepeated ? ", some of it again" : ""
    try output.write("\(head)  since version \(batch.from)\(note)\n")
    try output.write(lines.text(changes.recorded, described))
  }
}

/// Changes as lines for people: `+` for new objects, `~` for modified ones, `-` for those that are
/// gone.
struct RecordedLines {
  private let json: RecordedJSON
  private let terminal: Terminal

  init(schema: StoreSchema, _ terminal: Terminal) {
    json = RecordedJSON(schema: schema)
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

  /// What was assigned, with the old values if they are known.
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
    described.columns.compactMap { column in
      guard !column.isRemoved, column.id != described.primaryKey else { return nil }
      return values[column.name].map { (column, $0) }
    }
  }

  private func text(_ value: RecordedValue, _ column: ColumnSchema) -> String {
    shown(json.property(value, column))
  }

  private func shown(_ value: JSONValue) -> String { Field.json(value).shown }
}
