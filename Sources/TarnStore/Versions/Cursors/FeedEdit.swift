/// A change of a file's cursors and of its retention, in one transaction.
package struct FeedEdit {
  package private(set) var table: FeedTable
  /// Whether the file had no such records at the beginning, or has none afterwards.
  package var isToBeCleared = false
  private var changed: Set<UInt32> = []
  private let path: String

  package init(_ table: FeedTable?, path: String) {
    self.table = table ?? FeedTable()
    self.path = path
  }

  package var isChanged: Bool { !changed.isEmpty || isToBeCleared }

  package var retention: RetentionPolicy {
    get { table.settings.retention }
    set {
      table.settings.retention = newValue
      changed.insert(0)
    }
  }

  package subscript(number: UInt32) -> CursorRecord? {
    get { table.cursors[number] }
    set {
      table.cursors[number] = newValue
      changed.insert(number)
    }
  }

  /// A number that no cursor had.
  mutating func makeNumber() throws(StorageError) -> UInt32 {
    let number = table.settings.nextNumber
    guard number < .max else { throw error(.limitExceeded, "the file has had too many cursors") }
    table.settings.nextNumber = number + 1
    return number
  }

  /// The cursor, if the hold with that epoch is the last one.
  func held(_ number: UInt32, epoch: UInt32) throws(StorageError) -> CursorRecord {
    guard let record = table.cursors[number] else {
      throw error(.notFound, "the cursor was deleted")
    }
    guard record.epoch == epoch else {
      let who = record.owner.map { "by \($0.sentence)" } ?? ""
      throw error(.conflict, "the cursor '\(record.name)' was taken \(who). Open it again")
    }
    return record
  }

  /// - Throws: `.conflict` if the cursor was taken or acknowledged meanwhile, `.notFound` if it was
  ///   deleted, `.invalidInput` for a position that the file's history does not have.
  mutating func acknowledge(
    _ acknowledgement: CursorAcknowledgement, _ head: HeadRecord,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var record = try held(acknowledgement.number, epoch: acknowledgement.epoch)
    let (from, to) = (acknowledgement.from, acknowledgement.to)
    guard record.acknowledged == from else {
      throw error(
        .conflict,
        "the cursor '\(record.name)' is acknowledged up to version "
          + "\(record.acknowledged.version.rawValue), and the acknowledgement is of what follows "
          + "version \(from.version.rawValue)")
    }
    let header = try ChangeLog.readableHeader(of: to.version, in: transaction)
    let commitID = to.version == head.version ? head.commitID : header?.meta.commitID
    guard to.historyID == head.historyID, to.version <= head.version,
      commitID == nil || commitID == to.commitID,
      to.version >= from.version || from.historyID != head.historyID || record.state.reason != nil
    else {
      throw error(
        .invalidInput,
        "version \(to.version.rawValue) is no version of this file after version "
          + "\(from.version.rawValue)")
    }
    record.acknowledged = to
    record.acknowledgedAt = CommitNote.now
    record.schemaEpoch = header?.meta.schemaEpoch ?? head.schemaEpoch
    if let note = header?.meta.note { (record.age, record.logBytes) = (note.age, note.logBytes) }
    record.expiredAt = nil
    record.reason = nil
    self[acknowledgement.number] = record
  }

  /// Expires the cursors that are beyond their limits.
  ///
  /// - Returns: their names and positions.
  mutating func expire(_ now: CommitNote) -> [CursorRecord] {
    var expired: [CursorRecord] = []
    for (number, record) in table.cursors where record.keepsRecords && record.isBeyondLimits(now) {
      var record = record
      record.expiredAt = now.time
      self[number] = record
      expired.append(record)
    }
    return expired
  }

  /// Writes the changed records.
  mutating func put(in transaction: borrowing WriteTransaction) throws(StorageError) {
    if isToBeCleared {
      for number in [0] + table.cursors.keys { try delete(number, in: transaction) }
      return
    }
    if changed.isEmpty { return }
    table.settings.changes += 1
    try put(table.settings.encoded(), 0, in: transaction)
    for number in changed where number > 0 {
      guard let record = table.cursors[number] else {
        try delete(number, in: transaction)
        continue
      }
      let bytes = record.encoded()
      guard bytes.count <= WriteTransaction.valueByteCountMax else {
        throw error(
          .limitExceeded,
          "the cursor '\(record.name)' needs \(bytes.count) bytes with the conditions and key "
            + "paths of its selection, and may have \(WriteTransaction.valueByteCountMax)")
      }
      try put(bytes, number, in: transaction)
    }
  }

  private func put(
    _ bytes: [UInt8], _ number: UInt32, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    unsafe try TreeKey.feed(number).withBytes { key throws(StorageError) in
      unsafe try withBytes(of: bytes) { bytes throws(StorageError) in
        unsafe try transaction.put(bytes, forKey: key)
      }
    }
  }

  private func delete(
    _ number: UInt32, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    _ = unsafe try TreeKey.feed(number).withBytes { key throws(StorageError) in
      unsafe try transaction.delete(key)
    }
  }

  private func error(_ code: StorageError.Code, _ detail: String) -> StorageError {
    StorageError(code, operation: "change cursor", path: path, detail: detail)
  }
}

/// Notes that a consumer has processed everything up to a position.
package struct CursorAcknowledgement: Hashable, Sendable {
  package var number: UInt32
  /// The epoch of the consumer's hold of the cursor.
  package var epoch: UInt32
  /// The former acknowledged position, as the consumer knows it.
  package var from: FeedPlace
  package var to: FeedPlace

  package init(number: UInt32, epoch: UInt32, from: FeedPlace, to: FeedPlace) {
    self.number = number
    self.epoch = epoch
    self.from = from
    self.to = to
  }
}
