import TarnStore
import TarnText
import ToolSupport

/// The change records that a file keeps for its cursors and for its retention.
struct CursorReport {
  let cursors: [KnownCursor]
  let retention: RetentionPolicy
  private let newest: UInt64
  /// The bytes of all records that the history has had.
  private let logBytes: UInt64

  init(_ store: Store) throws {
    let snapshot = try store.newestSnapshot()
    newest = snapshot.version.rawValue
    // A damaged record is reported by the commands that read it.
    let records = (try? store.retainedVersions()) ?? []
    logBytes = records.last?.note?.logBytes ?? 0
    cursors = try store.cursors()
    retention = try store.retention()
  }

  func table() -> TextTable {
    var table = TextTable([
      .init("NAME"), .init("VERSION", .right), .init("BEHIND", .right), .init("BYTES", .right),
      .init("ACKNOWLEDGED"), .init("SELECTS"), .init("STATE"),
    ])
    for known in cursors {
      table.add([
        known.record.name, "\(known.record.acknowledged.version.rawValue)", "\(behind(known))",
        "\(bytes(known))", Self.time(known.record.acknowledgedAt), selects(known), state(known),
      ])
    }
    return table
  }

  /// The number of versions that it still has to report.
  private func behind(_ known: KnownCursor) -> UInt64 {
    let version = known.record.acknowledged.version.rawValue
    return newest > version ? newest - version : 0
  }

  /// The size of the records that are kept for it, in bytes.
  private func bytes(_ known: KnownCursor) -> UInt64 {
    guard known.record.keepsRecords else { return 0 }
    return logBytes > known.record.logBytes ? logBytes - known.record.logBytes : 0
  }

  private static func time(_ microseconds: Int64) -> String {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return ISODate.text(Timestamp(seconds: seconds, nanoseconds: Int32(max(0, rest) * 1000)))
  }

  private func selects(_ known: KnownCursor) -> String {
    known.record.selection.map { $0.map(\.className).joined(separator: ",") } ?? "everything"
  }

  private func state(_ known: KnownCursor) -> String {
    if known.record.expiredAt != nil { return "expired" }
    guard known.isHeld else { return known.record.reason == nil ? "free" : "full resync" }
    return known.record.owner.map { "held by \($0.sentence)" } ?? "held"
  }

  private static func values(_ level: OldValueLevel) -> String {
    switch level {
    case .none: "none"
    case .keys: "primary keys of deleted objects"
    case .deletedObjects: "deleted objects"
    case .oldValues: "old values"
    }
  }

  func facts(_ known: KnownCursor) -> [(String, String)] {
    let record = known.record
    var facts = [
      ("name", record.name), ("number", "\(known.number)"), ("state", state(known)),
      ("acknowledged", "version \(record.acknowledged.version.rawValue)"),
      ("at", Self.time(record.acknowledgedAt)), ("created", Self.time(record.created)),
      ("behind", "\(behind(known)) versions, \(sizeText(Int(clamping: bytes(known))))"),
      ("keeps", KeepText.text(record.limits)), ("values", Self.values(record.level)),
    ]
    if let expired = record.expiredAt { facts.append(("expired", Self.time(expired))) }
    for part in record.selection ?? [] {
      var text = part.className
      if let condition = part.condition { text += " where \(condition)" }
      if let paths = part.keyPaths { text += ", only \(paths.joined(separator: ", "))" }
      facts.append(("selects", text))
    }
    if record.selection == nil { facts.append(("selects", "everything")) }
    return facts
  }

  func json(_ known: KnownCursor) -> [UInt8] {
    var json = JSONText()
    write(known, to: &json)
    json.endLine()
    return json.takeBytes()
  }

  func write(_ known: KnownCursor, to json: inout JSONText) {
    let record = known.record
    json.beginObject()
    for (name, text) in [
      ("name", record.name), ("state", state(known)), ("values", Self.values(record.level)),
      ("created", Self.time(record.created)), ("acknowledged", Self.time(record.acknowledgedAt)),
    ] {
      json.key(name)
      json.string(text)
    }
    for (name, number) in [
      ("number", UInt64(known.number)), ("version", record.acknowledged.version.rawValue),
      ("behind", behind(known)), ("bytes", bytes(known)),
    ] {
      json.key(name)
      json.unsigned(number)
    }
    json.key("keeps")
    json.string(KeepText.text(record.limits))
    json.key("selects")
    json.value(record.selection.map { .array($0.map { .string($0.className) }) } ?? .null)
    json.key("owner")
    if known.isHeld, let owner = record.owner {
      json.integer(Int64(owner.processID))
    } else {
      json.null()
    }
    json.endObject()
  }
}
