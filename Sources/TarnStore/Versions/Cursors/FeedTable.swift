/// All cursors of a file, and its retention.
package struct FeedTable: Equatable, Sendable {
  package var settings = FeedSettings()
  package var cursors: [UInt32: CursorRecord] = [:]

  package init() {}

  /// Whether nothing needs to be stored in the file.
  package var isEmpty: Bool { cursors.isEmpty && settings.retention.isEmpty }

  package func number(of name: String) -> UInt32? { cursors.first { $0.value.name == name }?.key }

  /// The table in a snapshot.
  package static func read(in snapshot: Snapshot) throws(StorageError) -> FeedTable {
    guard snapshot.head.featureFlags & HeadRecord.feedFeature != 0 else { return FeedTable() }
    var cursor = try Cursor(snapshot.transaction)
    return try read(&cursor) ?? FeedTable()
  }

  /// Reads the table in the cursor's transaction. Nil if the file has none.
  package static func read(_ cursor: inout Cursor) throws(StorageError) -> FeedTable? {
    var isAt = unsafe try TreeKey.feed(0).withBytes { key throws(StorageError) in
      unsafe try cursor.seek(atOrAfter: key)
    }
    var table: FeedTable?
    while isAt, let number = unsafe TreeKey.parseFeed(cursor.key) {
      if number == 0 {
        table = FeedTable()
        table?.settings = try unsafe FeedSettings(decoding: cursor.value)
      } else {
        guard table != nil else { throw .damagedRecord("the record of the feed is missing") }
        table?.cursors[number] = try unsafe CursorRecord(decoding: cursor.value)
      }
      isAt = try cursor.next()
    }
    return table
  }

  /// The record of one cursor; nil if it does not exist.
  static func cursor(
    _ number: UInt32, in transaction: ReadTransaction
  ) throws(StorageError) -> CursorRecord? {
    let found = unsafe try TreeKey.feed(number).withBytes { key throws(StorageError) in
      unsafe try transaction.value(forKey: key)
    }
    return unsafe try found.map { bytes throws(StorageError) in
      try unsafe CursorRecord(decoding: bytes)
    }
  }
}

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

/// How much of the state before a commit its record keeps, for each class: as much as any cursor or
/// the retention requires.
package struct FeedNeeds: Equatable, Sendable {
  private let all: OldValueLevel
  private let byClass: [ClassID: OldValueLevel]

  package init(_ table: FeedTable, _ schema: StoreSchema) {
    var all = table.settings.retention.keepsOldValues ? OldValueLevel.oldValues : .none
    var byClass: [ClassID: OldValueLevel] = [:]
    func need(_ level: OldValueLevel, of ids: Set<ClassID>) {
      for id in ids { byClass[id] = max(byClass[id] ?? .none, level) }
    }
    for cursor in table.cursors.values where cursor.keepsRecords {
      guard let selection = cursor.selection else {
        all = max(all, cursor.level)
        continue
      }
      // Embedded objects belong to the object that contains them.
      let own = schema.withEmbedded(schema.ids(named: selection.map(\.className)))
      need(cursor.level, of: own)
      guard cursor.level == .oldValues else { continue }
      need(.oldValues, of: schema.ids(named: cursor.related))
      // An old link is a link to a primary key, whatever happened to the object.
      let columns = own.flatMap { schema.classes[Int($0.rawValue)].columns }
      need(.keys, of: Set(columns.compactMap { $0.isRemoved ? nil : $0.target }))
      if columns.contains(where: { !$0.isRemoved && $0.type == .any }) { all = max(all, .keys) }
    }
    self.all = all
    self.byClass = byClass
  }

  package var isEmpty: Bool { all == .none && byClass.values.allSatisfy { $0 == .none } }

  package func level(of id: ClassID) -> OldValueLevel { max(all, byClass[id] ?? .none) }
}

extension StoreSchema {
  fileprivate func ids(named names: [String]) -> Set<ClassID> {
    Set(names.compactMap { name in classes.first { $0.name == name }?.id })
  }
}
