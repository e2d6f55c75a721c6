/// A change record of the usual kind: a few keys of one class, and no other changes.
///
/// A consumer that catches up over very many commits reads such records without building a change
/// set for each: the keys go straight into a recorder. Damage is found as by `ChangeRecord.decode`.
@safe struct SmallRecord {
  let version: Version
  let commitID: UInt64
  let classID: ClassID
  /// Whether it has values before the commit, which are left unread.
  private(set) var hasOldValues = false
  /// The numbers of the cursors that the commit belongs to.
  private(set) var cursors: [UInt32] = []
  private let bytes: UnsafeRawBufferPointer
  private let insertedCount: Int32
  private let deletedCount: Int32
  private let touchedCount: Int32
  /// The offsets of the sections: those of touched properties from the first one on; 0 for none.
  private var inserted: Int32 = 0
  private var deleted: Int32 = 0
  private var touched: Int32 = 0
  private let touchedColumns: ColumnMask

  /// Many keys are cheaper as a change set.
  private static let keysMax = 32

  /// - Parameter bytes: the first value of the record. Use the result only as long as they exist.
  /// - Returns: nil if the record is of another kind. It may be damaged then.
  /// - Throws: `.corrupted` or `.newerFormat`, as `ChangeRecord.decode` does.
  init?(_ bytes: UnsafeRawBufferPointer, version: Version) throws(StorageError) {
    var reader = unsafe try ChangeRecord.open(bytes, version: version, classField: 0, chunk: 0)
    guard let id = try ChangeRecord.readStartOfOneClass(&reader, version) else { return nil }
    let summary = try ChangeRecord.readSummary(&reader)
    guard !summary.isCleared, !summary.hasBackTouched, summary.insertedCount <= Self.keysMax,
      summary.deletedCount <= Self.keysMax, summary.touchedCount <= Self.keysMax
    else { return nil }
    unsafe self.bytes = bytes
    self.version = version
    commitID = id
    classID = summary.id
    insertedCount = Int32(summary.insertedCount)
    deletedCount = Int32(summary.deletedCount)
    touchedCount = Int32(summary.touchedCount)
    touchedColumns = summary.touchedColumns
    guard try findSections(&reader) else { return nil }
  }

  /// - Returns: false if it has sections that a small record does not have.
  private mutating func findSections(_ reader: inout RecordReader) throws(StorageError) -> Bool {
    guard reader.remaining > 3, try reader.byte() == ChangeRecord.Section.startOfClass else {
      return false
    }
    var start = try reader.part(Int(try reader.word(UInt16.self)))
    guard try start.number(UInt32.self) == classID.rawValue else { return false }
    var lastColumn: ColumnID?
    while reader.remaining > 0 {
      let place = Int32(reader.offset)
      let kind = try reader.byte()
      var part = try reader.part(Int(try reader.word(UInt16.self)))
      switch kind {
      case ChangeRecord.Section.note:
        guard inserted == 0, deleted == 0, touched == 0, cursors.isEmpty else { return false }
        cursors = try CommitNote.cursors(in: &part)
      case ChangeRecord.Section.inserted where inserted == 0 && deleted == 0 && touched == 0:
        inserted = place
      case ChangeRecord.Section.deleted where deleted == 0 && touched == 0:
        deleted = place
      case ChangeRecord.Section.touched:
        let column = ColumnID(try part.number(UInt16.self))
        if let lastColumn, lastColumn >= column { return false }
        lastColumn = column
        if touched == 0 { touched = place }
      case ChangeRecord.Section.oldValueLevel: break
      case ChangeRecord.Section.oldValueKeys: return false
      case ChangeRecord.Section.oldValues: hasOldValues = true
      default: return false
      }
    }
    return true
  }

  /// The payload of the section at an offset, which `findSections` has checked.
  private func section(at place: Int32) throws(StorageError) -> RecordReader {
    var reader = unsafe RecordReader(bytes, from: Int(place) + 1)
    return try reader.part(Int(try reader.word(UInt16.self)))
  }
}

extension SmallRecord {
  var deletesObjects: Bool { deleted > 0 }

  /// Space for keys, reused for each record.
  struct Keys {
    fileprivate(set) var inserted = KeySet()
    fileprivate(set) var deleted = KeySet()
    fileprivate var touched = KeySet()
  }

  /// Notes the changes, and leaves the inserted and deleted objects in `keys`.
  ///
  /// - Throws: `.corrupted` or `.newerFormat`; a part of the changes may be noted then.
  func replay(
    into recorder: ChangeRecorder, _ keys: inout Keys
  ) throws(StorageError) {
    keys.inserted.removeAll()
    keys.deleted.removeAll()
    if inserted > 0 {
      var part = try section(at: inserted)
      try ChangeRecord.readKeys(&part, into: &keys.inserted)
    }
    if deleted > 0 {
      var part = try section(at: deleted)
      try ChangeRecord.readKeys(&part, into: &keys.deleted)
    }
    // Checked before the keys are visited: a damaged run may be endless.
    guard keys.inserted.count == insertedCount, keys.deleted.count == deletedCount else {
      throw Self.contradiction
    }
    // A key that is deleted and inserted belongs to a replaced object.
    for key in keys.deleted { recorder.delete(classID, key) }
    for key in keys.inserted { recorder.insert(classID, key) }
    try replayTouches(into: recorder, &keys.touched)
  }

  private static var contradiction: StorageError {
    .damagedRecord("its parts contradict its header")
  }

  private func replayTouches(
    into recorder: ChangeRecorder, _ keys: inout KeySet
  ) throws(StorageError) {
    var (count, columns) = (0, ColumnMask())
    if touched > 0 {
      var reader = unsafe RecordReader(bytes, from: Int(touched))
      while reader.remaining > 0 {
        let kind = try reader.byte()
        var part = try reader.part(Int(try reader.word(UInt16.self)))
        if kind != ChangeRecord.Section.touched { continue }
        let column = ColumnID(try part.number(UInt16.self))
        keys.removeAll()
        try ChangeRecord.readKeys(&part, into: &keys)
        count = saturatingSum(count, keys.count)
        columns.insert(column)
        guard count <= touchedCount else { throw Self.contradiction }
        for key in keys { recorder.touch(classID, key, column) }
      }
    }
    guard count == touchedCount, columns == touchedColumns else {
      throw Self.contradiction
    }
  }
}
