/// The change records that a file's cursors and its retention need. Made once for each state of
/// them.
struct FeedFloor: Sendable {
  /// Records of later versions are needed; nil without a cursor.
  private let acknowledged: Version?
  /// The cursors behind which records are kept.
  private let spans: [CursorRecord]
  private let retention: RetentionPolicy
  /// No cursor is beyond its limits before the log has this size.
  private let expiryBytes: UInt64
  private let expiryAge: UInt64

  init(_ table: FeedTable) {
    let live = table.cursors.values.filter(\.keepsRecords)
    acknowledged = live.map(\.acknowledged.version).min()
    spans = live.filter { $0.kept != CursorLimits() }
    retention = table.settings.retention
    func end(_ start: UInt64, _ length: UInt64?) -> UInt64 {
      guard let length else { return .max }
      let (sum, isOver) = start.addingReportingOverflow(length)
      return isOver ? .max : sum
    }
    expiryBytes = live.map { end($0.logBytes, $0.limits.bytes) }.min() ?? .max
    expiryAge = live.map { end($0.age, $0.limits.age) }.min() ?? .max
  }

  /// Whether a cursor may be beyond its limits.
  func mayExpire(_ now: CommitNote) -> Bool {
    now.logBytes > expiryBytes || now.age > expiryAge
  }

  /// Whether a record is needed. The newest one always is: it has the note that the next commit
  /// continues.
  func needs(
    _ header: ChangeRecord.Header, now: (version: Version, note: CommitNote?)
  ) -> Bool {
    if header.to >= now.version { return true }
    if let acknowledged, header.to > acknowledged { return true }
    if retention.keeps(header.to, header.meta.note, now: now) { return true }
    return spans.contains { $0.keepsBehind(header.meta.note) }
  }
}
