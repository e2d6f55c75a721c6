/// The rows of an instance: those of its snapshot, overlaid with those of its open write.
package struct StoreRows: RowSource {
  package typealias Rows = EitherRows<ClusterImage, WorkingCluster>

  package let reader: SnapshotReader
  let session: WriteSession?

  package init(_ reader: SnapshotReader, _ session: WriteSession? = nil) {
    self.reader = reader
    self.session = session
  }

  package var schema: SchemaView { reader.schema }
  /// The version at the start of the open write; nil without one.
  var beforeWrite: Snapshot? { session?.base }

  package func withRow<R>(
    _ classID: ClassID, _ key: ObjectKey,
    _ body: (Rows, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    guard let session else {
      guard let (image, slot) = try reader.row(key, in: classID) else { return nil }
      return try body(.first(image), slot)
    }
    switch try session.location(of: key, in: classID) {
    case nil: return nil
    case .image(let image, let slot): return try body(.first(image), slot)
    case .working(let cluster, let slot): return try body(.second(cluster), slot)
    }
  }

  package func withLongValue<R>(
    _ classID: ClassID, _ key: ObjectKey, _ column: ColumnID,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let bytes: [UInt8]
    if let session {
      bytes = try session.longBytes(of: column, at: key, in: classID)
    } else {
      bytes = try reader.longBytes(of: column, at: key, in: classID)
    }
    return unsafe try withBytes(of: bytes) { bytes throws(StorageError) in unsafe try body(bytes) }
  }

  /// A list, set or map; nil if its object does not exist.
  package func sequence(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    if let session { return try session.sequence(at: place) }
    return try reader.sequence(at: place)
  }

  /// The same without an open write.
  func stored(at place: SequencePlace) throws(StorageError) -> StoredSequence? {
    try reader.sequence(at: place)
  }

  /// Whether the object exists.
  package func contains(_ object: ObjectRef) throws(StorageError) -> Bool {
    if let session { return try session.location(of: object.key, in: object.classID) != nil }
    return try reader.row(object.key, in: object.classID) != nil
  }

  package func elementCount(of place: SequencePlace) throws(StorageError) -> Int {
    try glance(at: place)?.count ?? 0
  }

  package func forEachElement(
    of place: SequencePlace, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard let sequence = try glance(at: place) else { return }
    try sequence.forEach(in: 0..<sequence.count, body)
  }

  package func forEachKey(
    of place: SequencePlace, _ body: (String) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard let sequence = try glance(at: place) else { return }
    for position in 0..<sequence.count {
      guard try body(sequence.key(at: position)) else { return }
    }
  }

  package func element(
    of place: SequencePlace, at step: ValueStep
  ) throws(StorageError) -> Value? {
    try glance(at: place)?.element(at: step)
  }

  private func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    if let session { return try session.glance(at: place) }
    return try reader.sequence(at: place)
  }

  package func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    if let session { return try session.origins(of: target, in: id, through: column) }
    return try reader.origins(of: target, in: id, through: column)
  }

  /// A property's value; null for a collection, and without the object.
  package func plainValue(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value {
    if schema[id][column].collection != .none { return .null }
    if let session { return try session.value(of: column, at: key, in: id) ?? .null }
    return try reader.value(of: column, at: key, in: id) ?? .null
  }

  /// The objects that mixed values link to, including those in nested lists and maps. Nested ones
  /// are as in the snapshot, whatever an open write has changed.
  func anyLinks(
    from column: ColumnSchema, at place: SequencePlace
  ) throws(StorageError) -> [ObjectRef: UInt64] {
    if let session, column.collection == .none,
      case .object(let id, let key) = try session.value(
        of: column.id, at: place.key, in: place.classID)
    {
      return [ObjectRef(classID: id, key: key): 1]
    }
    return try reader.links(from: column, at: place.key, in: place.classID)
  }

  /// Announces about that many look-ups of rows of the class, in random order.
  func expect(lookups: Int, in id: ClassID) { reader.expect(lookups: lookups, in: id) }

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

  /// The smallest or greatest key of a class's objects; nil without objects.
  func end(of id: ClassID, isLast: Bool) throws(StorageError) -> ObjectKey? {
    if let edit = session?.classes[Int(id.rawValue)] { return try edit.end(isLast: isLast, reader) }
    return try reader.end(of: id, isLast: isLast)
  }

  /// The number of objects of the class.
  package func count(of id: ClassID) throws(StorageError) -> Int {
    if let session { return try session.rowCount(of: id) }
    return try reader.record(of: id).rowCount
  }
}

/// Following links.
extension StoreRows {
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
    let isAny = schema[link.classID][link.column].type == .any
    var origins: [ObjectKey] = []
    for key in targets {
      let value: Value = isAny ? .object(link.target, key) : .link(key)
      origins += try keys(in: link.classID, where: link.column, is: value)
      if origins.count > most { return nil }
    }
    return KeySet(origins)
  }

  private func targets(of origins: KeySet, _ link: LinkStep) throws(StorageError) -> KeySet {
    let column = schema[link.classID][link.column]
    var targets: [ObjectKey] = []
    for key in origins {
      let place = SequencePlace(classID: link.classID, key: key, column: link.column)
      if column.type == .any {
        for target in try anyLinks(from: column, at: place).keys
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
