import TarnStore
import ToolSupport

/// `tarn log`: the commits whose change records the file has, newest first.
struct LogCommand {
  private let path: String
  private let className: String?
  private let ageMax: UInt64?
  private let count: Int
  private let usesJSON: Bool

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.positional("CLASS")
    ageMax = try arguments.value("since").map(Self.microseconds)
    count = try arguments.integer("limit", default: .max, in: 0...(.max))
    usesJSON = arguments.has("json")
  }

  /// A duration such as `90s`, `5m`, `2h` or `7d`.
  static func microseconds(_ text: String) throws -> UInt64 {
    let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = text.last.flatMap({ units[$0] }), let number = UInt64(text.dropLast()),
      number <= 1 << 40
    else { throw UsageError("'\(text)' is not a duration such as 90s, 5m, 2h or 7d") }
    return number * unit * 1_000_000
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path)
    let snapshot = try store.newestSnapshot()
    let schema = snapshot.schema.schema
    let wanted = try className.map { try ClassView.named($0, in: snapshot.schema, path).id }
    let all = try store.retainedVersions()
    let now = all.last?.note?.age ?? 0
    let shown = all.reversed().filter { record in
      if let wanted, !record.classes.contains(where: { $0.id == wanted }) { return false }
      guard let ageMax else { return true }
      guard let note = record.note else { return false }
      return now < note.age || now - note.age <= ageMax
    }
    for record in shown.prefix(count) {
      if usesJSON {
        try writeJSON(record, schema, output)
      } else {
        try output.write(text(record, schema))
      }
    }
    return .success
  }

  private static func time(_ note: CommitNote) -> String {
    let (seconds, rest) = note.time.quotientAndRemainder(dividingBy: 1_000_000)
    return ISODate.text(
      Timestamp(
        seconds: rest < 0 ? seconds - 1 : seconds,
        nanoseconds: Int32((rest < 0 ? rest + 1_000_000 : rest) * 1000)))
  }

  private func name(_ id: ClassID, _ schema: StoreSchema) -> String {
    schema[id]?.name ?? "class \(id.rawValue)"
  }

  private func text(_ record: RetainedRecord, _ schema: StoreSchema) -> String {
    var lines = ["version \(record.version.rawValue)"]
    if let note = record.note { lines[0] += "  \(Self.time(note))  \(note.origin)" }
    if record.schemaChanged { lines.append("  the classes were migrated") }
    for changed in record.classes {
      var parts: [String] = []
      if changed.isCleared { parts.append("all deleted") }
      if changed.insertedCount > 0 { parts.append("\(changed.insertedCount) inserted") }
      if changed.deletedCount > 0 { parts.append("\(changed.deletedCount) deleted") }
      if changed.touchedCount > 0 {
        parts.append("\(counted(changed.touchedCount, "value")) assigned")
      }
      if parts.isEmpty { parts.append("links to objects changed") }
      lines.append("  \(name(changed.id, schema)): \(parts.joined(separator: ", "))")
    }
    return lines.map { printable($0) + "\n" }.joined()
  }

  private func writeJSON(
    _ record: RetainedRecord, _ schema: StoreSchema, _ output: OutputPipe
  ) throws {
    var json = JSONText()
    json.beginObject()
    json.key("version")
    json.unsigned(record.version.rawValue)
    json.key("commit")
    json.string(String(record.commitID, radix: 16))
    json.key("time")
    if let note = record.note { json.string(Self.time(note)) } else { json.null() }
    json.key("origin")
    if let note = record.note { json.string(note.origin) } else { json.null() }
    json.key("bytes")
    json.integer(Int64(record.byteCount))
    json.key("schemaChanged")
    json.bool(record.schemaChanged)
    json.key("classes")
    json.beginObject()
    for changed in record.classes {
      json.key(name(changed.id, schema))
      json.beginObject()
      for (key, count) in [
        ("inserted", changed.insertedCount), ("deleted", changed.deletedCount),
        ("assigned", changed.touchedCount),
      ] {
        json.key(key)
        json.integer(Int64(count))
      }
      json.key("cleared")
      json.bool(changed.isCleared)
      json.endObject()
    }
    json.endObject()
    json.endObject()
    json.endLine()
    try output.write(json.takeBytes())
  }
}
