/// One state of a store: the rows of a snapshot, with those of an overlay over them. The overlay is
/// an open write, or rows that are read one by one, such as those of an earlier version.
///
/// Used on one thread at a time. Gives the same results as long as a scan or a comparator uses it.
///
/// A scan walks the clusters of a class itself and passes each `ClusterImage` to `PredicateScan` or
/// `SortBuffer`. Only what is elsewhere is read here: the row behind a link, and long values. Row
/// by row (a changed row, rows under edit), the row itself is read here, too.
package struct Rows {
  private enum Overlay {
    case none
    case write(WriteSession)
    case other(any RowOverlay)
  }

  private let snapshotReader: SnapshotReader?
  /// The open write.
  let session: WriteSession?
  private let otherRows: (any RowOverlay)?

  /// Not stored as an enumeration: copying one with several payloads takes a call through its
  /// type's witness table, and rows are copied for each comparison of two of them.
  @inline(__always)
  private var overlay: Overlay {
    if let session { return .write(session) }
    if let otherRows { return .other(otherRows) }
    return .none
  }

  /// - Parameter session: an open write over that snapshot.
  package init(_ reader: SnapshotReader, _ session: WriteSession? = nil) {
    snapshotReader = reader
    self.session = session
    otherRows = nil
  }

  package init(_ session: WriteSession) { self.init(session.reader, session) }

  /// Rows that are read one by one.
  package init(_ rows: some RowOverlay) {
    snapshotReader = nil
    session = nil
    otherRows = rows
  }

  /// Traps for an overlay whose rows are read one by one.
  package var reader: SnapshotReader {
    guard let snapshotReader else { trap("internal error: these rows have no snapshot") }
    return snapshotReader
  }

  package var schema: SchemaView {
    switch overlay {
    case .none: reader.schema
    case .write(let session): session.schema
    case .other(let rows): rows.schema
    }
  }
  /// The version at the start of the open write; nil without one.
  var beforeWrite: Snapshot? { session?.base }

  // MARK: - Objects

  /// The cluster that has the row, and the row's slot; nil if the object does not exist.
  @inline(__always)
  package func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)? {
    switch overlay {
    case .none:
      guard let (image, slot) = try reader.row(key, in: id) else { return nil }
      return (.image(image), slot)
    case .write(let session): return try session.location(of: key, in: id)
    case .other(let rows): return try rows.location(of: key, in: id)
    }
  }

  /// Calls `body` with the cluster that has the row and the row's slot, and returns its result; nil
  /// if the object does not exist. `body` may call this again, to follow a link.
  package func withRow<R>(
    _ classID: ClassID, _ key: ObjectKey,
    _ body: (RowCluster, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    guard let (cluster, slot) = try location(of: key, in: classID) else { return nil }
    return try body(cluster, slot)
  }

  /// Whether the object exists.
  package func contains(_ object: ObjectRef) throws(StorageError) -> Bool {
    try location(of: object.key, in: object.classID) != nil
  }

  /// An object as a mixed value.
  func object(_ target: ObjectRef) -> Value {
    if case .other(let rows) = overlay { return rows.object(target) }
    return .object(target.classID, target.key)
  }

  private func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    switch overlay {
    case .none: try reader.longBytes(of: column, at: key, in: id)
    case .write(let session): try session.longBytes(of: column, at: key, in: id)
    case .other(let rows): try rows.longBytes(of: column, at: key, in: id)
    }
  }

  /// Calls `body` with a string or data value that is stored outside of its cluster.
  package func withLongValue<R>(
    _ classID: ClassID, _ key: ObjectKey, _ column: ColumnID,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let bytes = try longBytes(of: column, at: key, in: classID)
    return unsafe try withBytes(of: bytes) { bytes throws(StorageError) in unsafe try body(bytes) }
  }

  /// A property's value; nil if the object does not exist. Not for collections.
  package func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value? {
    guard let (cluster, slot) = try location(of: key, in: id) else { return nil }
    let described = schema[id][column]
    if let value = try cluster.value(described, slot) { return try schema.checked(value) }
    return try unsafe withLongValue(id, key, column) { (bytes) throws(StorageError) in
      try schema.checked(unsafe Value(cell: bytes, of: described))
    }
  }

  /// A property's value; null for a collection, and without the object.
  package func plainValue(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value {
    if schema[id][column].collection != .none { return .null }
    return try value(of: column, at: key, in: id) ?? .null
  }

  // MARK: - Collections

  /// A list, set or map; nil if its object does not exist.
  package func sequence(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    if let session { return try session.sequence(at: place) }
    return try glance(at: place)
  }

  /// The same for reading at once, before anything changes.
  private func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    switch overlay {
    case .none: try reader.sequence(at: place)
    case .write(let session): try session.glance(at: place)
    case .other(let rows): try rows.glance(at: place)
    }
  }

  /// The same without an open write.
  func stored(at place: SequencePlace) throws(StorageError) -> StoredSequence? {
    try reader.sequence(at: place)
  }

  /// The number of elements of a collection.
  package func elementCount(of place: SequencePlace) throws(StorageError) -> Int {
    try glance(at: place)?.count ?? 0
  }

  /// Calls `body` with each element of a collection, or each value of a map, until it returns
  /// false.
  package func forEachElement(
    of place: SequencePlace, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard let sequence = try glance(at: place) else { return }
    try sequence.forEach(in: 0..<sequence.count, body)
  }

  /// Calls `body` with each key of a map until it returns false.
  package func forEachKey(
    of place: SequencePlace, _ body: (String) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard let sequence = try glance(at: place) else { return }
    for position in 0..<sequence.count {
      guard try body(sequence.key(at: position)) else { return }
    }
  }

  /// One element of a collection, or one value of a map; nil if it does not exist, or the step does
  /// not fit the kind of collection.
  package func element(
    of place: SequencePlace, at step: ValueStep
  ) throws(StorageError) -> Value? {
    try glance(at: place)?.element(at: step)
  }

  // MARK: - Classes

  /// Announces about that many look-ups of rows of the class, in random order.
  func expect(lookups: Int, in id: ClassID) {
    if case .other(let rows) = overlay { return rows.expect(lookups: lookups, in: id) }
    reader.expect(lookups: lookups, in: id)
  }

  /// Every cluster of the class in the order of keys, until `body` returns false.
  ///
  /// - Parameter keys: clusters outside this range of keys may be skipped.
  /// - Parameter columns: those that `body` reads in most clusters.
  package func forEachImage(
    in id: ClassID, holding keys: ClosedRange<ObjectKey> = .smallest ... .largest,
    reading columns: [ColumnID] = [],
    _ body: (ClusterImage) throws(StorageError) -> Bool
  ) throws(StorageError) {
    if let session {
      return try session.forEachImage(in: id, holding: keys, reading: columns, body)
    }
    try reader.forEachCluster(in: id, holding: keys, reading: columns) {
      (found) throws(StorageError) in try body(found.image)
    }
  }

  /// The objects whose indexed column has that value.
  package func keys(
    in id: ClassID, where column: ColumnID, is value: Value
  ) throws(StorageError) -> [ObjectKey] {
    if let session { return try session.keys(in: id, where: column, is: value) }
    return try reader.keys(in: id, where: column, is: value)
  }

  /// The object with a primary key.
  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey? {
    if case .other(let rows) = overlay {
      return try rows.object(in: id, withPrimaryKey: value, column)
    }
    return try keys(in: id, where: column, is: value).first
  }

  /// The smallest or greatest key of a class's objects; nil without objects.
  func end(of id: ClassID, isLast: Bool) throws(StorageError) -> ObjectKey? {
    if let edit = session?.classes[id] { return try edit.end(isLast: isLast, reader) }
    return try reader.end(of: id, isLast: isLast)
  }

  /// The number of objects of the class.
  package func count(of id: ClassID) throws(StorageError) -> Int {
    if let session { return try session.rowCount(of: id) }
    return try reader.record(of: id).rowCount
  }

  // MARK: - Links

  /// The objects whose column links to that one, each as often as it does.
  package func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    switch overlay {
    case .none: try reader.origins(of: target, in: id, through: column)
    case .write(let session): try session.origins(of: target, in: id, through: column)
    case .other(let rows): try rows.origins(of: target, in: id, through: column)
    }
  }

  /// The objects that mixed values link to, including those in nested lists and maps. Nested ones
  /// are as in the snapshot, whatever an open write has changed.
  private func anyLinks(
    from column: ColumnSchema, at place: SequencePlace
  ) throws(StorageError) -> Set<ObjectRef> {
    if case .other = overlay {
      var found: Set<ObjectRef> = []
      try forEachLink(at: place) { found.insert($0) }
      return found
    }
    if let session, column.collection == .none,
      case .object(let id, let key) = try session.value(
        of: column.id, at: place.key, in: place.classID)
    {
      return [ObjectRef(classID: id, key: key)]
    }
    return Set(try reader.links(from: column, at: place.key, in: place.classID).keys)
  }
}

/// Following links.
extension Rows {
  /// Calls `body` with the target of each link of an object's column, including those in nested
  /// lists and maps.
  func forEachLink(
    at place: SequencePlace, _ body: (ObjectRef) -> Void
  ) throws(StorageError) {
    let column = schema[place.classID][place.column]
    var pending: [SequencePlace] = []
    // In a damaged file, collections may contain each other.
    var known: Set<CollectionID> = []
    func take(_ value: Value) {
      if let nested = value.collection {
        if known.insert(nested).inserted { pending.append(place.atAnyDepth(nested)) }
      } else if let target = column.linkTarget(of: value) {
        body(target)
      }
    }
    if column.collection != .none {
      pending.append(place)
    } else if let value = try value(of: place.column, at: place.key, in: place.classID) {
      take(value)
    }
    while let next = pending.popLast() {
      try forEachElement(of: next) { value in
        take(value)
        return true
      }
    }
  }

  /// The objects that a step leads to from one of `keys`.
  func after(_ keys: KeySet, through link: LinkStep) throws(StorageError) -> KeySet {
    link.isBackwards ? try origins(of: keys, link, .max) ?? KeySet() : try targets(of: keys, link)
  }

  /// The objects from which a step leads to one of `keys`; nil if there are more than `most`.
  func before(
    _ keys: KeySet, through link: LinkStep, atMost most: Int
  ) throws(StorageError) -> KeySet? {
    link.isBackwards ? try targets(of: keys, link) : try origins(of: keys, link, most)
  }

  private func origins(
    of targets: KeySet, _ link: LinkStep, _ most: Int
  ) throws(StorageError) -> KeySet? {
    var origins: [ObjectKey] = []
    for key in targets {
      origins += try keys(linkingTo: ObjectRef(classID: link.target, key: key), link)
      if origins.count > most { return nil }
    }
    return KeySet(origins)
  }

  /// The objects whose link leads to that one; some overlays have them more than once.
  private func keys(
    linkingTo target: ObjectRef, _ link: LinkStep
  ) throws(StorageError) -> [ObjectKey] {
    if case .other(let rows) = overlay {
      return try rows.origins(of: target, in: link.classID, through: link.column)
    }
    let isAny = schema[link.classID][link.column].type == .any
    let value: Value = isAny ? .object(target.classID, target.key) : .link(target.key)
    return try keys(in: link.classID, where: link.column, is: value)
  }

  private func targets(of origins: KeySet, _ link: LinkStep) throws(StorageError) -> KeySet {
    let column = schema[link.classID][link.column]
    var targets: [ObjectKey] = []
    for key in origins {
      let place = SequencePlace(classID: link.classID, key: key, column: link.column)
      if column.type == .any {
        for target in try anyLinks(from: column, at: place)
        where target.classID == link.target { targets.append(target.key) }
      } else if column.collection == .none {
        let target = try withRow(link.classID, key) { row, slot in
          row.isNull(link.column, slot) ? nil : ObjectKey(row.int(link.column, slot))
        }
        if let target, let target { targets.append(target) }
      } else {
        try forEachElement(of: place) { value in
          if case .link(let target) = value { targets.append(target) }
          return true
        }
      }
    }
    return KeySet(targets)
  }
}
