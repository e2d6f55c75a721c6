/// A commit's work for the file's cursors: the values it keeps for them, their acknowledgements,
/// and their expiry. Costs nothing in a file without cursors.
struct FeedCommit {
  private let store: Store
  private(set) var edit: FeedEdit?

  init(_ store: Store, _ table: FeedTable?) {
    self.store = store
    guard let table else { return }
    let known = store.knownFeed
    if known?.table.settings.changes != table.settings.changes {
      store.knownFeed = KnownFeed(table)
    }
    edit = FeedEdit(table, path: store.path)
  }

  /// The records that are needed; nil if only readers need any.
  var floor: FeedFloor? {
    guard let edit else { return nil }
    return edit.isChanged ? FeedFloor(edit.table) : store.knownFeed?.floor
  }

  /// The former values that the record keeps; nil for none.
  func needs(_ schema: SchemaView) -> FeedNeeds? {
    guard edit != nil, var known = store.knownFeed else { return nil }
    if let needs = known.needs, needs.epoch == schema.epoch {
      return needs.needs.isEmpty ? nil : needs.needs
    }
    let needs = FeedNeeds(known.table, schema.schema)
    known.needs = (schema.epoch, needs)
    store.knownFeed = known
    return needs.isEmpty ? nil : needs
  }

  mutating func acknowledge(
    _ acknowledgements: [CursorAcknowledgement], _ head: HeadRecord,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    if acknowledgements.isEmpty { return }
    var edit = edit ?? FeedEdit(nil, path: store.path)
    for acknowledgement in acknowledgements {
      try edit.acknowledge(acknowledgement, head, in: transaction)
    }
    self.edit = edit
    FaultPoint.hit("commit.acknowledged")
  }

  /// Expires cursors whose consumers are too far behind.
  mutating func expire(_ note: CommitNote) {
    guard edit != nil, let floor, floor.mayExpire(note) else { return }
    for record in edit?.expire(note) ?? [] {
      StoreLog.shared.write(
        .warning,
        "\(store.path): the cursor '\(record.name)' expired, because it is farther behind than it "
          + "may be: it is acknowledged up to version \(record.acknowledged.version.rawValue). Its "
          + "consumer needs a full resync")
    }
  }

  mutating func put(
    _ head: inout HeadRecord, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    guard edit != nil else { return }
    // A process that deleted the last cursor died before it had pruned.
    if edit?.table.isEmpty == true {
      edit?.isToBeCleared = true
      head.featureFlags &= ~HeadRecord.feedFeature
    }
    try edit?.put(in: transaction)
  }
}
