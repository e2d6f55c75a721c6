import TarnStore

/// The values of the server's rows that a write leaves out.
struct Leavings {
  /// The faults in the row of an object that has faults, or had some before.
  fileprivate struct Found {
    /// In properties with a single value.
    var plain: [LeftOut.Part]
    /// In properties with parts that were read.
    var contents: [ColumnID: [LeftOut.Part]] = [:]
  }

  fileprivate var found: [ObjectRef: Found] = [:]
  /// The records of earlier writes, by class and incarnation.
  fileprivate var former: [ClassID: [Int64: LeftOut]] = [:]
  /// Whether the file may lack values because another reader left them out.
  var isReadAgain = false
  /// The notices to deliver when the write is done.
  fileprivate(set) var notices: [SyncNotice] = []
}

extension ReplicaEdit {
  /// The records of a class before this write, by incarnation.
  func formerlyLeftOut(_ id: ClassID) throws(StorageError) -> [Int64: LeftOut] {
    if let known = leavings.former[id] { return known }
    let made = try LeftOut.all(in: id, snapshot)
    leavings.former[id] = made
    return made
  }

  private var reader: LeftOut.Reader { LeftOut.Reader(epoch: snapshot.schema.epoch) }

  private func reader(of incarnation: Int64, _ id: ClassID) -> LeftOut.Reader {
    clashes(incarnation, id) ? .untilSent(reader.epoch) : reader
  }

  /// Leaves out a row that no replica can read. An existing object keeps its values.
  func leaveOut(_ row: RowReader.Unreadable, _ one: ReplicaClass) throws(StorageError) {
    if let key = try objects.keys(of: [row.incarnation], in: one.id)[row.incarnation],
      var object = try objects[one.id, key]
    {
      object.version = row.version
      try objects.set(object, key, in: one.id)
    }
    let part = LeftOut.Part(column: one.exchange.key.id, fault: ValueFault(row.reason))
    set(
      LeftOut(
        version: row.version, reader: reader, key: row.key, isWhole: true, [part]),
      row.incarnation, one)
  }

  /// Leaves out a row, because the object would need a value that it cannot have.
  func leaveOut(
    _ row: RowReader.Row, _ parts: [LeftOut.Part], _ one: ReplicaClass
  ) throws(StorageError) {
    set(
      LeftOut(
        version: row.version, reader: reader(of: row.incarnation, one.id),
        key: WireValue(row.key.value)?.bytes ?? [], isWhole: true, parts),
      row.incarnation, one)
  }

  /// Removes the records of rows that leave the file.
  func forgetLeftOut(_ incarnations: Set<Int64>, _ one: ReplicaClass) throws(StorageError) {
    for incarnation in try formerlyLeftOut(one.id).keys where incarnations.contains(incarnation) {
      objects.set(LeftOut.key(one.id, incarnation), nil)
    }
  }

  /// The same for all rows except some.
  func forgetLeftOut(except kept: Set<Int64>, _ one: ReplicaClass) throws(StorageError) {
    for incarnation in try formerlyLeftOut(one.id).keys where !kept.contains(incarnation) {
      objects.set(LeftOut.key(one.id, incarnation), nil)
    }
  }

  /// Records the values of a row that its object does not have.
  func note(
    _ parts: [LeftOut.Part], of row: RowReader.Row, _ key: ObjectKey, _ one: ReplicaClass
  ) throws(StorageError) {
    if parts.isEmpty, try formerlyLeftOut(one.id)[row.incarnation] == nil { return }
    leavings.found[ObjectRef(classID: one.id, key: key)] = Leavings.Found(plain: parts)
  }

  /// Records the values of a column that its property with parts does not have.
  func note(_ faults: [ValueFault], at place: SequencePlace) {
    let object = ObjectRef(classID: place.classID, key: place.key)
    if faults.isEmpty, leavings.found[object] == nil { return }
    leavings.found[object, default: Leavings.Found(plain: [])].contents[place.column] =
      faults.map { LeftOut.Part(column: place.column, fault: $0) }
  }

  func note(_ notice: SyncNotice) { leavings.notices.append(notice) }

  /// Stores the records of left-out values with the write.
  func keepLeavings() throws(StorageError) {
    for (object, found) in leavings.found {
      let described = session.schema[object.classID]
      guard let entry = try objects[object.classID, object.key],
        let key = try primaryKey(of: object.key, described)
      else { continue }
      let former = try formerlyLeftOut(object.classID)[entry.incarnation]
      var parts = found.plain
      for part in former?.parts ?? [] where found.contents[part.column] == nil {
        // Of columns that have not changed, and were not read again.
        let column = described[part.column]
        if ContentCoder(column, session.schema.schema) != nil { parts.append(part) }
      }
      for column in found.contents.keys.sorted() { parts += found.contents[column] ?? [] }
      // A rounded part of a value without parts is not sent, and needs no record.
      for part in parts where part.fault.kind == .rounded {
        note(.rounded(described.name, described[part.column].name))
      }
      let kept = parts.filter {
        $0.fault.kind != .rounded || found.contents[$0.column] != nil
          || ContentCoder(described[$0.column], session.schema.schema) != nil
      }
      let name = LeftOut.key(object.classID, entry.incarnation)
      if kept.isEmpty {
        if former != nil { objects.set(name, nil) }
        continue
      }
      let one = LeftOut(
        version: entry.version, reader: reader(of: entry.incarnation, object.classID),
        key: WireValue(key)?.bytes ?? [], isWhole: false, kept)
      report(one, described)
      if one != former { objects.set(name, one.encoded) }
    }
    leavings.found = [:]
  }

  private func primaryKey(
    of key: ObjectKey, _ described: ClassSchema
  ) throws(StorageError) -> Value? {
    if described.keyIsPrimary { return .int(key.rawValue) }
    guard let column = described.primaryKey else { return nil }
    return try session.value(of: column, at: key, in: described.id)
  }

  private func set(_ one: LeftOut, _ incarnation: Int64, _ described: ReplicaClass) {
    objects.set(LeftOut.key(described.id, incarnation), one.encoded)
    report(one, described.described)
  }

  private func report(_ one: LeftOut, _ described: ClassSchema) {
    if one.isUntilSent { return }
    for part in one.parts where part.fault.kind == .leftOut {
      note(.leftOut(LeftOutValue(one, part, described)))
    }
  }
}
