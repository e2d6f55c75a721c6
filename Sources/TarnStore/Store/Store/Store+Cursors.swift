/// The cursors of the file. Every change of one is a separate transaction under the write lock that
/// creates no version and no change record, and that is not reported to observers. Acknowledgements
/// can also be part of a write.
extension Store {
  /// All cursors, in the order of their names.
  package func cursors() throws(StorageError) -> [KnownCursor] {
    let table = try feedTable(in: newestSnapshot())
    return table.cursors.map { number, record in
      KnownCursor(
        number: number, record: record,
        isHeld: CursorLock.isHeld(signal, number: number, epoch: record.epoch))
    }.sorted { $0.record.name < $1.record.name }
  }

  /// The cursors and the retention in a snapshot.
  package func feedTable(in snapshot: Snapshot) throws(StorageError) -> FeedTable {
    try FeedTable.read(in: snapshot)
  }

  /// Opens a cursor, or creates it.
  ///
  /// Errors: `.busy` if another process holds it, with that process's name; `.invalidInput` for an
  /// invalid name; `.permissionDenied` if this process cannot change the file; `.limitExceeded` for
  /// a selection that is too long.
  package func openCursor(_ request: CursorRequest) throws(StorageError) -> HeldCursor {
    if let fault = CursorRecord.fault(inName: request.name) {
      throw StorageError(
        .invalidInput, operation: "open cursor", path: path, detail: fault)
    }
    try requireCursors("open cursor")
    let deadline = Deadline(after: request.patience)
    var last: StorageError?
    var held: HeldCursor?
    _ = try deadline.wait { () throws(StorageError) in
      do throws(StorageError) {
        held = try tryToOpen(request)
      } catch {
        guard error.code == .busy else { throw error }
        last = error
      }
      return held != nil
    }
    if let held { return held }
    throw last
      ?? StorageError(
        .busy, operation: "open cursor", path: path, detail: "another process has it")
  }

  private func tryToOpen(_ request: CursorRequest) throws(StorageError) -> HeldCursor {
    // First without the write lock: waiting for an owner must not block writers.
    if !request.takes { try requireFree(request.name, feedTable(in: newestSnapshot())) }
    return try changeFeed("open cursor") {
      edit, head, transaction throws(StorageError) -> HeldCursor in
      if !request.takes { try requireFree(request.name, edit.table) }
      let known = edit.table.number(of: request.name)
      let number = if let known { known } else { try edit.makeNumber() }
      let note = try ChangeLog.readableHeader(of: head.version, in: transaction)?.meta.note
      var record =
        edit[number]
        ?? CursorRecord(
          name: request.name, at: head, note, selection: request.selection,
          level: request.level, epoch: .random(in: 0...1 << 30),
          reason: request.start == .snapshot ? .snapshot : nil)
      if known == nil, let first = try firstHeader(request, head, transaction) {
        record.begin(at: first, of: head.historyID)
      }
      if record.selection != request.selection {
        record.selection = request.selection
        record.reason = .selection
      }
      record.level = request.level
      record.related = request.level == .oldValues ? request.related.sorted() : []
      if let limits = request.limits { record.limits = limits }
      if let kept = request.kept { record.kept = kept }
      let wasLeftInOrder = known == nil || record.owner == nil
      let toldThrough = wasLeftInOrder ? record.acknowledged.version : head.version
      record.epoch &+= 1
      record.owner = .own
      let lock = try CursorLock(signal, number: number, epoch: record.epoch)
      FaultPoint.hit("cursor.locked")
      edit[number] = record
      return HeldCursor(
        self, record, number: number, isNew: known == nil, toldThrough: toldThrough, lock)
    }
  }

  /// The record of the version at which a new cursor begins; nil for the newest.
  private func firstHeader(
    _ request: CursorRequest, _ head: HeadRecord, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) -> ChangeRecord.Header? {
    if request.start == .snapshot { return nil }
    if let place = request.place, place.historyID == head.historyID, place.version < head.version,
      let header = try ChangeLog.readableHeader(of: place.version, in: transaction),
      header.meta.commitID == place.commitID
    {
      return header
    }
    guard request.start == .oldest, let oldest = try ChangeLog.oldestHeader(in: transaction)
    else { return nil }
    return oldest.to < head.version ? oldest : nil
  }

  private func requireFree(_ name: String, _ table: FeedTable) throws(StorageError) {
    guard let number = table.number(of: name), let record = table.cursors[number],
      CursorLock.isHeld(signal, number: number, epoch: record.epoch)
    else { return }
    let who = record.owner?.sentence ?? "another process"
    throw StorageError(
      .busy, operation: "open cursor", path: path,
      detail: "the cursor '\(name)' is held by \(who)")
  }

  /// Deletes a cursor, and then the records that only it needed.
  ///
  /// Errors: `.notFound`; `.busy` if a process holds it.
  ///
  /// - Parameter isForced: true to delete it even if a process holds it, which then gets an error.
  package func deleteCursor(_ name: String, evenIfHeld isForced: Bool = false)
    throws(StorageError)
  {
    try changeFeed("delete cursor") { edit, _, _ throws(StorageError) in
      if !isForced { try requireFree(name, edit.table) }
      try edit[number(of: name, edit)] = nil
    }
    try pruneUnneeded()
  }

  /// Renames a cursor.
  ///
  /// Errors: `.notFound`; `.busy` if a process holds it; `.invalidInput` for an invalid name, or
  /// one that another cursor has.
  package func renameCursor(_ name: String, to newName: String) throws(StorageError) {
    try changeFeed("rename cursor") { edit, _, _ throws(StorageError) in
      try requireFree(name, edit.table)
      let number = try number(of: name, edit)
      let isTaken = edit.table.number(of: newName) != nil
      let fault =
        CursorRecord.fault(inName: newName) ?? (isTaken ? "there is a cursor '\(newName)'" : nil)
      if let fault {
        throw StorageError(.invalidInput, operation: "rename cursor", path: path, detail: fault)
      }
      edit[number]?.name = newName
    }
  }

  /// Sets a cursor's limits.
  ///
  /// Errors: `.notFound`.
  package func setLimits(
    of name: String, to limits: CursorLimits, keeping kept: CursorLimits
  ) throws(StorageError) {
    try changeFeed("change cursor") { edit, _, _ throws(StorageError) in
      let number = try number(of: name, edit)
      edit[number]?.limits = limits
      edit[number]?.kept = kept
    }
  }

  private func number(of name: String, _ edit: FeedEdit) throws(StorageError) -> UInt32 {
    if let number = edit.table.number(of: name) { return number }
    throw StorageError(
      .notFound, operation: "find cursor", path: path,
      detail: "the file has no cursor '\(name)'")
  }

  // MARK: - Retention

  /// How long the file keeps change records without a cursor.
  package func retention() throws(StorageError) -> RetentionPolicy {
    try feedTable(in: newestSnapshot()).settings.retention
  }

  /// Extends the retention of the file's records. Writes only if it is extended.
  ///
  /// Errors: `.limitExceeded` if the file would have too many limits none of which covers another.
  package func raiseRetention(to policy: RetentionPolicy) throws(StorageError) {
    let known = try retention()
    if known.union(policy) == known { return }
    try changeFeed("set retention") { edit, _, _ throws(StorageError) in
      edit.retention = try checked(edit.retention.union(policy))
    }
  }

  private func checked(_ policy: RetentionPolicy) throws(StorageError) -> RetentionPolicy {
    guard policy.limits.count > RetentionPolicy.limitsMax else { return policy }
    throw StorageError(
      .limitExceeded, operation: "set retention", path: path,
      detail: "programs have asked for \(policy.limits.count) limits of which none covers "
        + "another, and a file keeps \(RetentionPolicy.limitsMax). Set one that covers them")
  }

  /// Sets how long the file keeps records; empty limits end the retention. Records that are then
  /// not needed are removed.
  package func setRetention(_ policy: RetentionPolicy) throws(StorageError) {
    if try retention() == policy { return }
    try changeFeed("set retention") { edit, _, _ throws(StorageError) in
      edit.retention = try checked(policy)
    }
    try pruneUnneeded()
  }
}
