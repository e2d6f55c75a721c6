import TarnStore

/// A write of the session: stores the server's rows in the file and keeps the file's unsent changes
/// on top of them.
///
/// A file shows the last state that it downloaded, with the differences of its own commits that the
/// server does not have. It keeps no copy of that state: single values that are not sent are the
/// ones that are shown.
final class ReplicaEdit {
  let snapshot: Snapshot
  let session: WriteSession
  let unsent: UnsentChanges
  var objects: ReplicaObjects
  /// Contents of downloaded rows, whose links may have targets that follow.
  private var contents: [DownloadedContent] = []
  /// Objects that were created here, and that the server does not have any more.
  private var alone: [(key: ObjectKey, one: ReplicaClass)] = []
  var waitingContents: [(place: SequencePlace, coder: ContentCoder)] = []
  /// Whether all objects are compared with the server's, which may have been restored.
  var isComparing = false
  /// Incarnations that a restored server, or another one, does not have. A row with the key of such
  /// an object is the object, which another replica has sent again.
  var lost: Set<Int64> = []
  /// The links to deleted objects that wait since the push whose outcome this write stores.
  private(set) var accepted: [WaitingLinks.Waiting] = []
  private var knownDeleted: LinksToDeleted?
  /// The values of the rows that it leaves out.
  var leavings = Leavings()
  /// The rows that break unique rules together with unsent changes; nil if none did so far.
  let clashes: Clashes?
  /// The rows that objects show, by incarnation; only if there are clashes, and of classes with
  /// unique rules.
  var rows: [ClassID: [ObjectKey: Int64]] = [:]
  /// The properties with parts that this write has shown.
  var shown: Set<SequencePlace> = []
  /// Links of downloaded rows, whose targets may follow them.
  private var links: [(place: WaitingLinks.Place, key: WireValue?, type: ColumnType)] = []
  /// The latest stamp of the downloaded values.
  private(set) var latest: Int64 = 0
  /// The classes with objects that leave once their changes are sent.
  private(set) var postponed: Set<ClassID> = []
  private let state: ReplicaState
  private let names: [String]
  private let number: UInt32
  private var knownLocals: LocalContents?
  private var knownRows: [UInt64: PastRows] = [:]
  /// Whether the file had links that wait for objects of the class that was asked about last.
  private var awaited: (id: ClassID, isAny: Bool)?

  /// - Parameters:
  ///   - state: before the write.
  ///   - next: that the write begins with: the server may have more commits.
  ///   - names: the classes that are exchanged.
  ///   - number: that of the session's cursor.
  ///   - clashes: the rows that are left out for now.
  init(
    _ snapshot: Snapshot, _ state: ReplicaState, to next: ReplicaState, _ names: [String],
    without number: UInt32, leavingOut clashes: Clashes? = nil
  ) throws(StorageError) {
    self.snapshot = snapshot
    self.clashes = clashes
    session = WriteSession(try SnapshotReader(snapshot)) {}
    unsent = try UnsentChanges(after: next, without: number, in: snapshot)
    objects = ReplicaObjects(snapshot)
    self.state = state
    self.names = names
    self.number = number
  }

  /// Whether the objects may differ from the server's where no change is recorded.
  var isStale: Bool { state.isStale }
  /// Up to here commits are sent.
  var done: UInt64 { state.done.version.rawValue }

  /// The classes that are exchanged.
  private var exchanged: Set<ClassID> {
    Set(names.compactMap { session.schema.schema.named($0)?.id })
  }

  func locals() throws(StorageError) -> LocalContents {
    if let knownLocals { return knownLocals }
    let made = try LocalContents(state, names, without: number, in: snapshot)
    knownLocals = made
    return made
  }

  /// The links that are nil because unsent commits have deleted their targets.
  func linksToDeleted() throws(StorageError) -> LinksToDeleted {
    if let knownDeleted { return knownDeleted }
    let classes = names.compactMap { session.schema.schema.named($0) }
    let rows = PastRows(try SnapshotReader(snapshot), RecordedPast(at: snapshot.version))
    let made = try LinksToDeleted(
      unsent, classes, ReplicaObjects(snapshot), rows: rows, without: number,
      refusing: ExchangedNames.refusing(classes, snapshot))
    knownDeleted = made
    return made
  }

  /// The file at an earlier version.
  func rows(at version: UInt64) throws(StorageError) -> PastRows {
    if let known = knownRows[version] { return known }
    let made = try PastRows(at: Version(version), from: SnapshotReader(snapshot))
    knownRows[version] = made
    return made
  }

  /// Shows a row of the server.
  ///
  /// - Returns: the object; nil for a row that is left out.
  @discardableResult
  func apply(
    _ row: RowReader.Row, _ one: ReplicaClass
  ) throws(StorageError) -> ObjectKey? {
    note(row)
    let present = try session.find(primaryKey: row.key.value, in: one.id)
    if let key = try deleted(row, otherThan: present, one) { return key }
    let faults = faults(in: row, one)
    guard let key = present else {
      if !faults.isEmpty, one.needs(faults) || clashes(row.incarnation, one.id) {
        try leaveOut(row, faults, one)
        return nil
      }
      return try create(row, one, faults)
    }
    try note(faults, of: row, key, one)
    let known = try objects[one.id, key]
    let pending = try unsent.pending(of: key, in: one.id, after: known?.void ?? 0)
    var object = ReplicaObject(incarnation: row.incarnation, version: row.version)
    if let known, known.incarnation == row.incarnation {
      object.void = known.void
      object.isJoined = known.isJoined
      // Its successor is not sent yet.
      let isReplaced = pending.isCreated && !known.isJoined
      if !isReplaced {
        try set(row, key, one, keeping: pending, except: faults)
      } else if one.hasContents {
        // Commits before the deletion may be sent separately.
        try keepContents(of: row, key, one, isFormer: true)
      }
    } else if pending.isCreated || known == nil {
      object.isJoined = pending.isCreated
      try set(row, key, one, keeping: pending, except: faults)
      if pending.isCreated { try join(row.key.value, key, one) }
    } else if let known, lost.contains(known.incarnation) {
      try set(row, key, one, keeping: pending, except: faults)
    } else {
      // Another object has the key: the unsent changes of the former one are void.
      object.void = snapshot.version.rawValue
      try set(row, key, one, keeping: UnsentChanges.Pending(), except: faults)
    }
    try objects.replace(known, by: object, key, in: one.id)
    return key
  }

  /// Notes a row of the server whose key a new object of a push has: they are one object. One that
  /// has left the file since is not shown again.
  func meet(
    _ row: RowReader.Row, _ key: ObjectKey, _ one: ReplicaClass
  ) throws(StorageError) {
    if try session.find(primaryKey: row.key.value, in: one.id) != nil {
      try apply(row, one)
    } else if try deleted(row, otherThan: nil, one) == nil {
      let object = ReplicaObject(
        incarnation: row.incarnation, version: row.version, isJoined: true)
      try objects.set(object, key, in: one.id)
    }
  }

  /// The object of a row that was deleted here, of which the server does not know yet; nil if it
  /// was not. One that was created here as well is one with the server's: so its deletion deletes
  /// that.
  private func deleted(
    _ row: RowReader.Row, otherThan present: ObjectKey?, _ one: ReplicaClass
  ) throws(StorageError) -> ObjectKey? {
    for key in try unsent.deleted(row.key, in: one.described) where key != present {
      let known = try objects[one.id, key]
      let isSame = known.map { $0.incarnation == row.incarnation || lost.contains($0.incarnation) }
      guard isSame ?? true,
        try unsent.pending(of: key, in: one.id, after: known?.void ?? 0).isDeleted
      else { continue }
      var object =
        known ?? ReplicaObject(incarnation: row.incarnation, version: 0, isJoined: true)
      (object.incarnation, object.version) = (row.incarnation, row.version)
      try objects.replace(known, by: object, key, in: one.id)
      // Commits before the deletion may be sent separately.
      if one.hasContents { try keepContents(of: row, key, one) }
      return key
    }
    return nil
  }

  private func create(
    _ row: RowReader.Row, _ one: ReplicaClass, _ faults: [LeftOut.Part]
  ) throws(StorageError) -> ObjectKey {
    let left = faults.filter { $0.fault.kind == .leftOut }.map(\.column)
    let key = try session.create(in: one.id) { id in
      !left.isEmpty && left.contains(id) ? one.zero(of: id) : one.value(in: row, at: id)
    }
    noteShown(row, key, one)
    if !one.linksAndParts.isEmpty { try setParts(row, key, one) }
    try note(faults, of: row, key, one)
    try objects.set(
      ReplicaObject(
        incarnation: row.incarnation, version: row.version, void: snapshot.version.rawValue),
      key, in: one.id)
    if try mayWait(one.id) { try join(row.key.value, key, one) }
    return key
  }

  private func setParts(
    _ row: RowReader.Row, _ key: ObjectKey, _ one: ReplicaClass
  ) throws(StorageError) {
    // A former object may have had the key.
    if one.hasContents { try objects.forgetContents(of: key, in: one.id) }
    for property in one.linksAndParts {
      if property.contents != nil {
        contents.append(DownloadedContent(row, key, property, one))
      } else {
        link(row.wire(property), key, property, one)
      }
    }
  }

  /// Sets the values of a row, except for unsent ones of this file. A value that was written later
  /// than all unsent commits replaces these as well. Properties whose values are left out keep
  /// theirs.
  private func set(
    _ row: RowReader.Row, _ key: ObjectKey, _ one: ReplicaClass,
    keeping pending: UnsentChanges.Pending, except faults: [LeftOut.Part],
    refused: KeptContent.Table? = nil
  ) throws(StorageError) {
    noteShown(row, key, one)
    let left = faults.filter { $0.fault.kind == .leftOut }.map(\.column)
    let present = try session.values(of: one.plainIDs, at: key, in: one.id) ?? []
    for (place, former) in present.enumerated() {
      let id = one.plainIDs[place]
      let isMine = pending.isCreated || pending.columns.contains(id)
      if isMine, row.stamp(of: one.plain[place]).time <= unsent.time { continue }
      let value = one.value(in: row, plain: place)
      if value == former || !left.isEmpty && left.contains(id) { continue }
      try session.set(id, at: key, in: one.id, to: value)
      if refused == nil, !value.isSameElement(as: former) { noteChange(row, one.plain[place], one) }
    }
    for property in one.linksAndParts {
      let isMine = pending.isCreated || pending.columns.contains(property.id)
      if property.contents != nil {
        var content = DownloadedContent(row, key, property, one)
        content.isMine = isMine
        content.isForced = refused != nil
        content.refused = isMine ? refused?[property.id] : nil
        contents.append(content)
        continue
      }
      if isMine, row.stamp(of: property).time <= unsent.time {
        if pending.isCreated { continue }
        guard try isDerived(key, property, one) else { continue }
      }
      if left.contains(property.id) { continue }
      link(row.wire(property), key, property, one)
    }
  }

  /// Records that the server has changed a value which this file sent.
  private func noteChange(
    _ row: RowReader.Row, _ property: ExchangeClass.Property, _ one: ReplicaClass
  ) {
    guard state.number != 0, !isStale, !isComparing, row.stamp(of: property).writer == state.number
    else {
      return
    }
    note(.changedByServer(one.described.name, property.name))
  }

  // MARK: - Links

  private func link(
    _ wire: WireValue?, _ key: ObjectKey, _ property: ExchangeClass.Property, _ one: ReplicaClass
  ) {
    let place = WaitingLinks.Place(
      object: ObjectRef(classID: one.id, key: key), column: property.id)
    links.append((place, wire, property.type))
  }

  /// Sets the links of the downloaded rows after all rows were stored. A link to a missing object
  /// is nil, and waits for its target.
  func finish() throws(StorageError) {
    for (place, wire, type) in links {
      let described = session.schema[place.object.classID]
      guard let target = described[place.column].target else { continue }
      guard let wire, let value = wire.value(type) else {
        try WaitingLinks.set(nil, at: place, &objects)
        try setLink(.null, place)
        try noteCut(place)
        continue
      }
      let found = try session.find(primaryKey: value, in: target)
      let waiting = WaitingLinks.Waiting(place: place, target: target, key: wire.bytes)
      try WaitingLinks.set(found == nil ? waiting : nil, at: place, &objects)
      try setLink(found.map { .link($0) } ?? .null, place)
    }
    links = []
    for content in contents { try set(content) }
    for (key, one) in alone where try objects[one.id, key] == nil { try leaveAlone(key, one) }
    for (place, coder) in waitingContents { try refresh(place, coder) }
    try keepLeavings()
    (contents, waitingContents, alone) = ([], [], [])
  }

  func setLink(_ value: Value, _ place: WaitingLinks.Place) throws(StorageError) {
    let (id, key) = (place.object.classID, place.object.key)
    guard let former = try session.value(of: place.column, at: key, in: id), former != value else {
      return
    }
    try session.set(place.column, at: key, in: id, to: value)
  }

  /// Whether an object is in the file, with the changes of this write.
  func exists(_ key: ObjectKey, in id: ClassID) throws(StorageError) -> Bool {
    try session.location(of: key, in: id) != nil
  }

  private func note(_ row: RowReader.Row) { latest = max(latest, row.latest) }

  /// Whether any link waits for an object of a class.
  private func mayWait(_ id: ClassID) throws(StorageError) -> Bool {
    if objects.records.hasChanges(of: WaitingLinks.byTarget) { return true }
    if let awaited, awaited.id == id { return awaited.isAny }
    let isAny = try WaitingLinks.isAny(to: id, in: snapshot)
    awaited = (id, isAny)
    return isAny
  }

  /// Notes that objects of a class leave later.
  func postpone(_ id: ClassID) { postponed.insert(id) }

  /// Drops an object that the server does not have any more, or does not show.
  ///
  /// - Parameter gone: the incarnations that are deleted. Others stay while they have unsent
  ///   changes. Nil if all have the same end.
  func depart(
    _ key: ObjectKey, _ one: ReplicaClass, gone: Set<Int64>?
  ) throws(StorageError) {
    guard var known = try objects[one.id, key] else { return }
    let pending = try unsent.pending(of: key, in: one.id, after: known.void)
    if let gone, !pending.isEmpty, !gone.contains(known.incarnation) {
      postponed.insert(one.id)
      return
    }
    if pending.isDeleted, !pending.isCreated {
      // Deleted by both. Another object that gets the key is not meant by that.
      known.void = snapshot.version.rawValue
      return try objects.set(known, key, in: one.id)
    }
    // The same after an earlier download: the entry stays as long as the deletion is not sent.
    if pending.isEmpty, known.void > 0, try !exists(key, in: one.id) { return }
    // A creation before the download of the deletion remains.
    if !pending.isCreated {
      try remove(key, one)
    } else if known.isJoined, one.hasContents {
      alone.append((key, one))
    } else if one.hasContents {
      // The kept content belongs to the object that was deleted here, too.
      try objects.forgetContents(of: key, in: one.id)
    }
    try objects.set(nil, key, in: one.id)
  }

  /// Deletes an object that the server does not have. Links to it wait from then on.
  func remove(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) {
    let primaryKey: Value? =
      one.described.keyIsPrimary
      ? .int(key.rawValue) : try session.value(of: one.exchange.key.id, at: key, in: one.id)
    guard let primaryKey, try session.find(primaryKey: primaryKey, in: one.id) == key else {
      return try objects.forget(key, in: one.id)
    }
    let gone = ObjectRef(classID: one.id, key: key)
    let holders = try Rows(session).waitingLinks(to: gone, primaryKey, from: exchanged)
    try session.delete(key, in: one.id)
    try objects.forget(key, in: one.id)
    for link in holders {
      try WaitingLinks.add(link, session.schema.schema, &objects)
      try keepShown(link.place)
    }
  }

  /// Treats an object as one that the server does not have: it is sent as a whole.
  func forget(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) {
    try objects.set(nil, key, in: one.id)
  }

  /// Undoes the changes of a refused commit in an object.
  ///
  /// - Parameters:
  ///   - row: the server's; nil if it has none.
  ///   - version: of the commit.
  ///   - contents: the contents that would be kept if the server had accepted it.
  func takeBack(
    _ key: ObjectKey, _ row: RowReader.Row?, _ version: Version, _ one: ReplicaClass,
    _ contents: KeptContent.Table
  ) throws(StorageError) {
    let later = try unsent.pending(of: key, in: one.id, after: version.rawValue)
    let faults = row.map { self.faults(in: $0, one) } ?? []
    let isOwn = try unsent.pending(of: key, in: one.id, after: 0).isCreated
    if let row, isOwn, !faults.isEmpty, one.needs(faults) { try leaveOut(row, faults, one) }
    guard let row, !isOwn || !one.needs(faults) else {
      let isKnown = try objects[one.id, key] != nil
      let pending = try unsent.pending(of: key, in: one.id, after: 0)
      if !isKnown, !pending.isCreated {
        // From before the file was a replica, or lost by the server: its former content is sent.
        try restore(key, one, pending.columns.filter { !later.columns.contains($0) })
      } else if !later.isCreated {
        try remove(key, one)
      }
      try objects.set(nil, key, in: one.id)
      return
    }
    var object = ReplicaObject(
      incarnation: row.incarnation, version: row.version, void: version.rawValue)
    if let present = try session.find(primaryKey: row.key.value, in: one.id) {
      if later.isDeleted {
        // Later commits delete it, and have created another one with its key.
        if present == key { try keepContents(of: row, key, one, isFormer: true) }
        return try objects.set(object, key, in: one.id)
      }
      object.isJoined = later.isCreated || present != key
      if present == key {
        try set(row, key, one, keeping: later, except: faults, refused: contents)
        try note(faults, of: row, key, one)
        let left = faults.filter {
          $0.fault.kind == .leftOut && $0.fault != Clashes.fault
            && !later.columns.contains($0.column)
        }
        try restore(key, one, left.map(\.column), isNew: isOwn)
      }
      try objects.set(nil, key, in: one.id)
      try objects.set(object, present, in: one.id)
    } else if clashes(row.incarnation, one.id) {
      try leaveOut(row, faults, one)
    } else if !later.isDeleted {
      _ = try create(row, one, faults)
    }
  }

  /// Sets properties with one value to their values after the last commit that is sent.
  ///
  /// - Parameter isNew: whether the object did not exist then, so that there are no such values.
  private func restore(
    _ key: ObjectKey, _ one: ReplicaClass, _ columns: [ColumnID], isNew: Bool = false
  ) throws(StorageError) {
    guard !columns.isEmpty, try session.reader.row(key, in: one.id) != nil else { return }
    for property in one.exchange.others
    where property.contents == nil && columns.contains(property.id) {
      let known =
        isNew
        ? one.absent(property) : try rows(at: done).value(of: property.id, at: key, in: one.id)
      guard var former = known else { continue }
      if let target = one.target(of: property), case .link(let other) = former,
        try session.reader.row(other, in: target) == nil
      {
        former = .null
      }
      try session.set(property.id, at: key, in: one.id, to: former)
    }
  }

  /// Keeps the message about a refused commit until it is delivered.
  func note(_ commit: RefusedCommit) throws(StorageError) {
    try objects.set(RefusedCommit.key, RefusedCommit.encoded(objects.refusals() + [commit]))
  }

  /// Keeps how far a class is with the write.
  func note(_ progress: ClassProgress, of id: ClassID) { objects.set(progress, of: id) }

  /// Stores the outcome of a push with the write.
  ///
  /// - Parameter successors: the objects that have the keys of those that the push deleted. They
  ///   show what downloads have put into those, which the server has dropped with them.
  func take(
    _ outcome: ReplicaOutcome, leavingAlone successors: [(key: ObjectKey, one: ReplicaClass)] = []
  ) throws(StorageError) {
    var tables: [KeptContent.Table] = []
    for (key, one) in successors {
      try leaveAlone(key, one)
      let table = try objects.contents(of: key, in: one.id)
      tables.append(table.filter { $0.value.last?.isOfFormer == false })
    }
    var outcome = outcome
    var waiting: [WaitingLinks.Waiting] = []
    for link in outcome.waiting where try isOpen(link.place) { waiting.append(link) }
    outcome.waiting = waiting
    accepted = outcome.waiting
    try objects.take(outcome, session.schema.schema)
    for ((key, one), table) in zip(successors, tables) {
      objects.set(table, of: key, in: one.id)
    }
  }

  /// Keeps the state of the replica with the write.
  func keep(_ state: ReplicaState) { objects.set(state) }
}
