import Tarn
import TarnStore
import TarnText
import ToolSupport

/// One commit as `tarn log` prints it.
struct LogEntry {
  private let record: RetainedRecord
  private let schema: StoreSchema
  /// The changes; nil without `--patch`.
  private let changes: VersionChanges?
  private let className: String?

  init(
    _ record: RetainedRecord, _ schema: StoreSchema, _ changes: VersionChanges?,
    only className: String?
  ) {
    self.record = record
    self.schema = schema
    self.changes = changes
    self.className = className
  }

  private static func time(_ note: CommitNote) -> String {
    let (seconds, rest) = note.time.quotientAndRemainder(dividingBy: 1_000_000)
    return ISODate.text(
      Timestamp(
        seconds: rest < 0 ? seconds - 1 : seconds,
        nanoseconds: Int32((rest < 0 ? rest + 1_000_000 : rest) * 1000)))
  }

  private func name(_ id: ClassID) -> String { schema[id]?.name ?? "class \(id.rawValue)" }

  /// The changes of the classes that are shown.
  private var patches: [(described: ClassSchema, changes: ObjectChanges<DynamicObject>)] {
    guard let changes else { return [] }
    return changes.classNames.compactMap { name in
      guard className == nil || className == name, let described = schema.named(name) else {
        return nil
      }
      return (described, changes.changes(ofClass: name))
    }
  }

  // MARK: - Text

  /// - Throws: `StorageError` for a damaged file.
  func text(_ terminal: Terminal) throws(StorageError) -> String {
    var head = terminal.styled("version \(record.version.rawValue)", .yellow)
    if let note = record.note { head += "  \(Self.time(note))  \(printable(note.origin))" }
    var lines = [head]
    if record.schemaChanged { lines.append("  the classes were migrated") }
    for changed in record.classes {
      lines.append("  \(printable(name(changed.id))): \(summary(changed))")
      guard let patch = patches.first(where: { $0.described.id == changed.id }) else { continue }
      let text = RecordedLines(schema: schema, terminal)
        .text(try patch.changes.readRecorded(), patch.described)
      lines += text.splitASCII("\n").map { "  " + $0 }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func summary(_ changed: ChangeRecord.Summary) -> String {
    var parts: [String] = []
    if changed.isCleared { parts.append("all deleted") }
    if changed.insertedCount > 0 { parts.append("\(changed.insertedCount) inserted") }
    if changed.deletedCount > 0 { parts.append("\(changed.deletedCount) deleted") }
    if changed.touchedCount > 0 {
      parts.append("\(counted(changed.touchedCount, "value")) assigned")
    }
    return parts.isEmpty ? "links to objects changed" : parts.joined(separator: ", ")
  }

  // MARK: - JSON

  /// - Throws: `StorageError` for a damaged file.
  func json() throws(StorageError) -> [UInt8] {
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
      json.key(name(changed.id))
      try write(changed, to: &json)
    }
    json.endObject()
    json.endObject()
    json.endLine()
    return json.takeBytes()
  }

  private func write(
    _ changed: ChangeRecord.Summary, to json: inout JSONText
  ) throws(StorageError) {
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
    if let patch = patches.first(where: { $0.described.id == changed.id }) {
      json.key("changes")
      json.beginObject()
      RecordedJSON(schema: schema)
        .write(try patch.changes.readRecorded(), of: patch.described, to: &json)
      json.endObject()
    }
    json.endObject()
  }
}
