/// The difference between two versions for a selection.
///
/// It has only net changes. The values of a class are those of the last version if the records
/// since then kept old values. Otherwise they are those of the newest version: conditions are
/// tested there, and objects that no longer exist there are `gone`. A later difference then has
/// these objects again.
package struct FeedDifference: Sendable {
  /// The changes of each class of the selection, in the order of the ids; only classes with
  /// changes.
  package var classes: [FeedClass]
  /// The records from the version before the first change to the newest one; nil if they keep no
  /// old values.
  package private(set) var start: RecordedPast?
  /// The records from the version after the last change to the newest one; nil if they keep no old
  /// values, or if it is the newest.
  package private(set) var end: RecordedPast?
  /// Whether it was known of all objects whether they matched before.
  package private(set) var knowsMatchesBefore = true

  package var isEmpty: Bool { classes.isEmpty }

  package subscript(id: ClassID) -> FeedClass? { classes.first { $0.id == id } }

  package init() { classes = [] }

  /// - Parameters:
  ///   - parts: the selection, one part for each class.
  ///   - changes: the recorded changes between the two versions.
  ///   - deaths: the known objects that were deleted meanwhile.
  ///   - mayRepeat: whether a consumer may have received a part of the changes before. It may then
  ///     have to remove an object that these changes added.
  ///   - reader: the reader of the newest version.
  ///   - start: the records since the version before the changes; nil if old values are unknown.
  ///   - end: the records since the version after the changes; nil for the same reason, and if that
  ///     version is the newest.
  package init(
    of parts: [FeedPart], over changes: ChangeSet, deaths: [ClassID: FeedDeaths] = [:],
    mayRepeat: Bool, _ reader: SnapshotReader, start: RecordedPast? = nil,
    end: RecordedPast? = nil
  ) throws(StorageError) {
    (self.start, self.end) = (start, end)
    let newest = Rows(reader)
    // Rows of before a migration cannot be read.
    func past(_ past: RecordedPast?) -> PastRows? {
      past.flatMap { $0.changes.schemaChanged ? nil : PastRows(reader, $0) }
    }
    let (before, after) = (past(start), past(end))
    let owners = try EmbeddedOwners(of: changes, newest)
    let ownersAfter = try after.map { rows throws(StorageError) in
      try EmbeddedOwners(of: changes, rows.rows) { rows.images.level(of: $0) == .oldValues }
    }
    classes = []
    for part in parts {
      if !part.query.isUnfiltered, before.map({ part.canBeTested(in: $0) }) != true {
        knowsMatchesBefore = false
      }
      var told: FeedClass
      if let after, let ownersAfter, part.canBeShown(in: after) {
        var step = FeedClassStep(
          part, over: changes, ownersAfter, deaths, mayRepeat, after.rows, before)
        told = try step.tell()
      } else {
        var step = FeedClassStep(part, over: changes, owners, deaths, mayRepeat, newest, before)
        told = try step.tell()
        told.isOfNewest = true
      }
      told.end = changes.to
      if !told.isEmpty { classes.append(told) }
    }
  }
}

/// The objects of a class that were deleted in a difference.
package struct FeedDeaths: Sendable {
  /// The primary keys, by object key.
  package var primaryKeys: [ObjectKey: Value] = [:]
  /// Deleted objects, including objects added in the same difference: a consumer that may have
  /// received one of these must be notified that it was deleted.
  package var keys = KeySet()
  /// Objects that existed before the difference, of a class of which all were deleted at once. The
  /// changes of other classes name them.
  package var former = KeySet()

  package init() {}
}

/// Sorts the changes of one class.
private struct FeedClassStep {
  let part: FeedPart
  let own: ClassChanges
  let changes: ChangeSet
  let embedded: [ColumnID: KeySet]
  let deaths: FeedDeaths
  /// Objects that existed before the difference and were deleted in it. Another object may have the
  /// key of one of these now.
  let dead: KeySet
  /// Objects that were added and deleted in the difference and may have been reported in between.
  let lost: KeySet
  let mayRepeat: Bool
  /// The rows after the changes, or newer ones.
  let rows: Rows
  /// Nil if the condition cannot be tested there.
  let before: PastRows?
  var told: FeedClass

  init(
    _ part: FeedPart, over changes: ChangeSet, _ owners: EmbeddedOwners,
    _ deaths: [ClassID: FeedDeaths], _ mayRepeat: Bool, _ rows: Rows, _ before: PastRows?
  ) {
    self.part = part
    self.changes = changes
    own = changes[part.classID] ?? ClassChanges(id: part.classID)
    embedded = owners.found[part.classID] ?? [:]
    self.deaths = deaths[part.classID] ?? FeedDeaths()
    dead = own.isCleared ? self.deaths.former : own.deleted
    lost = mayRepeat ? self.deaths.keys.subtracting(dead) : KeySet()
    self.mayRepeat = mayRepeat
    self.rows = rows
    self.before = before.flatMap { part.canBeTested(in: $0) ? $0 : nil }
    told = FeedClass(id: part.classID)
  }

  mutating func tell() throws(StorageError) -> FeedClass {
    told.isCleared = own.isCleared
    let assigned = try findAssigned()
    let fresh = own.inserted.union(dead).union(lost)
    let inDoubt = try part.query.rowsInDoubt(changes, rows)
    try sort(assigned.subtracting(fresh), isAssigned: true, inDoubt)
    try sort(inDoubt.subtracting(assigned).subtracting(fresh), isAssigned: false, inDoubt)
    try sortThoseThatCame()
    try sortThoseThatWent()
    keepWhatIsOfModified()
    return told
  }

  // MARK: - Modified

  /// Objects with a change that the selection reports.
  private mutating func findAssigned() throws(StorageError) -> KeySet {
    var found = KeySet()
    guard let scope = part.scope else {
      var columns = embedded
      for entry in own.touched {
        columns[entry.column] = columns[entry.column]?.union(entry.keys) ?? entry.keys
      }
      for (column, keys) in columns.sorted(by: { $0.key < $1.key }) {
        told.assigned.append(FeedClass.Assigned(column: column, keys: keys))
        found.formUnion(keys)
      }
      told.sequences = own.sequences.filter { $0.name.nested == nil }
      return found
    }
    var along: [FeedClass.AlongPath] = []
    try scope.forEachPath(concernedBy: changes, rows) { path, keys in
      if !keys.isEmpty { along.append(FeedClass.AlongPath(path: path, keys: keys)) }
    }
    told.along = along
    var columns: [ColumnID: KeySet] = [:]
    for entry in along {
      found.formUnion(entry.keys)
      guard let column = entry.path.dependencies.first.flatMap(part.ownColumn) else { continue }
      columns[column] = columns[column]?.union(entry.keys) ?? entry.keys
    }
    told.assigned = columns.sorted { $0.key < $1.key }.map {
      FeedClass.Assigned(column: $0.key, keys: $0.value)
    }
    told.sequences = own.sequences.filter {
      $0.name.nested == nil && columns[$0.name.column] != nil
    }
    return found
  }

  /// Objects that existed before the difference and were not deleted in it.
  ///
  /// - Parameter inDoubt: those of which the changes may decide whether they match.
  private mutating func sort(
    _ keys: KeySet, isAssigned: Bool, _ inDoubt: KeySet
  ) throws(StorageError) {
    if keys.isEmpty { return }
    if keys.count > 16 { rows.expect(lookups: keys.count, in: part.classID) }
    var (modified, entered): ([ObjectKey], [ObjectKey]) = ([], [])
    var (left, gone): ([ObjectKey], [ObjectKey]) = ([], [])
    for key in keys {
      guard let matches = try matches(key) else {
        gone.append(key)
        continue
      }
      let isInDoubt = inDoubt.contains(key)
      let matched = isInDoubt ? try matched(key) : matches
      // A consumer may have received the other state, which lay in between.
      let mayDiffer = mayRepeat && isInDoubt
      switch (matches, matched) {
      case (true, true): if isAssigned || mayDiffer { modified.append(key) }
      // A consumer that waits for objects that begin to match must not miss one.
      case (true, nil), (true, false): entered.append(key)
      case (false, false): if mayDiffer { left.append(key) }
      case (false, _): left.append(key)
      }
    }
    told.modified.formUnion(KeySet(modified))
    told.entered.formUnion(KeySet(entered))
    told.left.formUnion(KeySet(left))
    told.gone.formUnion(KeySet(gone))
  }

  /// Whether the object matches now; nil if it no longer exists.
  private func matches(_ key: ObjectKey) throws(StorageError) -> Bool? {
    try rows.withRow(part.classID, key) { (row, slot) throws(StorageError) in
      if part.query.isUnfiltered { return true }
      return try part.query.predicate.matches(row, slot, in: rows)
    }
  }

  /// Whether the object matched before; nil if unknown.
  private func matched(_ key: ObjectKey) throws(StorageError) -> Bool? {
    if part.query.isUnfiltered { return true }
    guard let before else { return nil }
    return try part.query.predicate.matches(key, in: before.rows)
  }

  // MARK: - Inserted and deleted

  private mutating func sortThoseThatCame() throws(StorageError) {
    if own.inserted.isEmpty { return }
    var (inserted, replaced): ([ObjectKey], [ObjectKey]) = ([], [])
    var (left, gone): ([ObjectKey], [ObjectKey]) = ([], [])
    for key in own.inserted {
      // Of another object with the key.
      let matched = dead.contains(key) ? try matched(key) ?? true : false
      switch try matches(key) {
      case nil: gone.append(key)
      // It may have been reported before, and matched then.
      case false?: if mayRepeat || matched { left.append(key) }
      case true?: if matched { replaced.append(key) } else { inserted.append(key) }
      }
    }
    told.inserted = KeySet(inserted)
    told.replaced = KeySet(replaced)
    told.left.formUnion(KeySet(left))
    told.gone.formUnion(KeySet(gone))
  }

  private mutating func sortThoseThatWent() throws(StorageError) {
    let went = dead.union(lost).subtracting(own.inserted)
    if went.isEmpty { return }
    var (deleted, replaced, left): ([ObjectKey], [ObjectKey], [ObjectKey]) = ([], [], [])
    // Objects that had one primary key after each other have one identity. The first one existed
    // before.
    var identities: Set<ElementKey> = []
    for key in went {
      let matched = dead.contains(key) ? try matched(key) ?? true : false
      if !matched, !mayRepeat { continue }
      guard let successor = try successor(of: key), let matches = try matches(successor) else {
        if !lost.isEmpty, let value = deaths.primaryKeys[key],
          !identities.insert(ElementKey(value)).inserted
        {
          continue
        }
        deleted.append(key)
        continue
      }
      if !matches {
        left.append(successor)
      } else if matched || !own.inserted.contains(successor) {
        replaced.append(successor)
      }
    }
    told.deleted = KeySet(deleted)
    told.replaced.formUnion(KeySet(replaced))
    told.inserted = told.inserted.subtracting(told.replaced)
    told.modified = told.modified.subtracting(told.replaced)
    told.entered = told.entered.subtracting(told.replaced)
    told.left.formUnion(KeySet(left))
    for key in deleted { told.primaryKeys[key] = primaryKey(ofDeleted: key) }
  }

  private func primaryKey(ofDeleted key: ObjectKey) -> Value? {
    if part.described.primaryKey == nil { return nil }
    return part.described.keyIsPrimary ? .int(key.rawValue) : deaths.primaryKeys[key]
  }

  /// The object that now has the primary key of a deleted one. It may have been added by a commit
  /// that is not in the difference: a later one, or the consumer's own.
  private func successor(of key: ObjectKey) throws(StorageError) -> ObjectKey? {
    guard let column = part.described.primaryKey else { return nil }
    if part.described.keyIsPrimary { return key }
    guard let value = deaths.primaryKeys[key] else { return nil }
    return try rows.object(in: part.classID, withPrimaryKey: value, column)
  }

  /// Drops the assigned columns of objects that are neither modified nor entered.
  private mutating func keepWhatIsOfModified() {
    let kept = told.modified.union(told.entered)
    for index in told.assigned.indices {
      told.assigned[index].keys = told.assigned[index].keys.intersection(kept)
    }
    told.assigned.removeAll { $0.keys.isEmpty }
    for index in told.along.indices {
      told.along[index].keys = told.along[index].keys.intersection(kept)
    }
    told.along.removeAll { $0.keys.isEmpty }
    told.sequences.removeAll { !kept.contains($0.name.key) }
  }
}

/// The properties that own embedded objects with changes, at any depth: an embedded object belongs
/// to its owner, and its changes are changes of the property that contains it.
package struct EmbeddedOwners: Sendable {
  /// By the class of the owner and the column.
  package private(set) var found: [ClassID: [ColumnID: KeySet]] = [:]

  /// The owners in a snapshot.
  package init(of changes: ChangeSet, in snapshot: Snapshot) throws(StorageError) {
    try self.init(of: changes, Rows(SnapshotReader(snapshot)))
  }

  /// - Parameters:
  ///   - rows: the rows after the changes. Changed links to embedded objects are themselves among
  ///     the changes, so the current links suffice.
  ///   - isReadable: the classes that `rows` has. Owners in other classes are not found.
  init(
    of changes: ChangeSet, _ rows: Rows, where isReadable: (ClassID) -> Bool = { _ in true }
  ) throws(StorageError) {
    let schema = rows.schema
    var open: [(ClassID, KeySet)] = []
    for change in changes.classes where schema.schema[change.id]?.isEmbedded == true {
      let keys = change.touchedKeys(in: .all)
      if !keys.isEmpty { open.append((change.id, keys)) }
    }
    // Each step leads to the owner, and no object owns itself.
    while let (id, keys) = open.popLast() {
      for link in schema.incoming(to: id) where isReadable(link.origin) {
        let step = LinkStep(classID: link.origin, column: link.column, target: id)
        let owners = try rows.before(keys, through: step, atMost: .max) ?? KeySet()
        let known = found[link.origin]?[link.column] ?? KeySet()
        let fresh = owners.subtracting(known)
        if fresh.isEmpty { continue }
        found[link.origin, default: [:]][link.column] = known.union(fresh)
        if schema.isEmbedded(link.origin) { open.append((link.origin, fresh)) }
      }
    }
  }
}
