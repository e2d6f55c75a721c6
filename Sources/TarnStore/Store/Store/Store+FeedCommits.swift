/// Transactions that change cursors or remove change records, without a version.
extension Store {
  /// The maximum number of values that one such transaction removes.
  private static let pruneMost = 512

  /// Whether this process can have cursors of the file.
  func requireCursors(_ operation: String) throws(StorageError) {
    if let cause = environment.copyCause {
      throw StorageError(
        cause.code, operation: operation, path: path,
        detail: "the file is read from a private copy, in which nothing can be acknowledged. "
          + cause.detail)
    }
    guard environment.isWritable, !environment.options.isReadOnly else {
      throw StorageError(
        .permissionDenied, operation: operation, path: path,
        detail: "the file is opened read-only, and a cursor's position is in the file")
    }
  }

  /// Changes cursors or the retention under the write lock.
  ///
  /// - Parameter patience: how long to wait for other writers; nil for no limit.
  /// - Throws: nothing was written, unless the code is `.outcomeUnknown`.
  @discardableResult
  func changeFeed<R>(
    _ operation: String, waiting patience: Duration? = nil,
    _ body: (inout FeedEdit, HeadRecord, borrowing WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try requireCursors(operation)
    let token = try acquireGate(timeout: patience)
    let outcome = Result { () throws(StorageError) in try changeFeedUnderGate(body) }
    token.release()
    return try outcome.get()
  }

  private func changeFeedUnderGate<R>(
    _ body: (inout FeedEdit, HeadRecord, borrowing WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try environment.checkIdentityBeforeCommit()
    var after: FeedEdit?
    let answer = try environment.write { transaction throws(StorageError) -> R in
      FaultPoint.hit("feed.begun")
      var head = try HeadRecord.read(from: transaction)
      var edit = FeedEdit(try feedTable(head, transaction), path: path)
      let answer = try body(&edit, head, transaction)
      try edit.put(in: transaction)
      FaultPoint.hit("feed.put")
      let flags = head.featureFlags
      if edit.isToBeCleared {
        head.featureFlags &= ~HeadRecord.feedFeature
      } else if edit.isChanged {
        head.featureFlags |= HeadRecord.feedFeature
      }
      if head.featureFlags != flags { try head.put(in: transaction) }
      after = edit
      return answer
    }
    FaultPoint.hit("feed.done")
    if let after { remember(after) }
    return answer
  }

  /// The cursors that a write sees; nil if the file has none.
  func feedTable(
    _ head: HeadRecord, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) -> FeedTable? {
    guard head.featureFlags & HeadRecord.feedFeature != 0 else { return nil }
    let found = unsafe try TreeKey.feed(0).withBytes { key throws(StorageError) in
      unsafe try transaction.value(forKey: key)
    }
    guard let found = unsafe found else {
      throw StorageError(
        .corrupted, operation: "read cursors", path: path,
        detail: "the record of the feed is missing")
    }
    let settings = try unsafe FeedSettings(decoding: found)
    if let known = knownFeed?.table, known.settings.changes == settings.changes { return known }
    var cursor = try TarnStore.Cursor(transaction)
    return try FeedTable.read(&cursor)
  }

  /// Caches the cursors that a transaction has written.
  func remember(_ edit: FeedEdit) {
    if edit.isToBeCleared {
      knownFeed = nil
    } else if knownFeed?.table.settings.changes != edit.table.settings.changes {
      knownFeed = KnownFeed(edit.table)
    }
  }

  /// Removes the records that are not needed, in small transactions, and clears the file's feature
  /// flag if it has neither cursors nor a retention any more.
  package func pruneUnneeded() throws(StorageError) {
    var isDone = false
    while !isDone {
      isDone = try changeFeed("prune") { edit, head, transaction throws(StorageError) in
        let oldest = environment.oldestReaderTransactionID ?? environment.newestTransactionIDHint
        let note = try ChangeLog.readableHeader(of: head.version, in: transaction)?.meta.note
        let floor = FeedFloor(edit.table)
        let isCut = try ChangeLog.prune(
          through: oldest, most: Self.pruneMost, in: transaction
        ) { floor.needs($0, now: (head.version, note)) }
        FaultPoint.hit("feed.pruned")
        if !isCut, edit.table.isEmpty { edit.isToBeCleared = true }
        return !isCut
      }
    }
  }
}

/// The cursors of a file, as far as a process knows them.
struct KnownFeed {
  let table: FeedTable
  let floor: FeedFloor
  /// By the schema's epoch.
  var needs: (epoch: UInt64, needs: FeedNeeds)?

  init(_ table: FeedTable) {
    self.table = table
    floor = FeedFloor(table)
  }
}
