extension ChangeRecord {
  /// Reads chunk 0 of the header under that version.
  ///
  /// - Throws: `.corrupted` for malformed bytes, `.newerFormat` for a record that only a newer
  ///   version of this library can read.
  /// - Parameter skippingOrigin: leaves the name of the program out of the note.
  package static func decodeHeader(
    _ bytes: UnsafeRawBufferPointer, version: Version, skippingOrigin: Bool = false
  ) throws(StorageError) -> Header {
    try unsafe openHeader(bytes, version: version, skippingOrigin: skippingOrigin).header
  }

  /// The id of the transaction that contains the record with that header, without reading the rest.
  ///
  /// - Throws: as `decodeHeader`, as far as the bytes are read.
  static func transactionID(
    _ bytes: UnsafeRawBufferPointer, version: Version
  ) throws(StorageError) -> UInt64 {
    var reader = try unsafe open(bytes, version: version, classField: 0, chunk: 0)
    if try reader.byte() & ~Flag.known != 0 { throw .newerRecord("an unknown flag") }
    try reader.skip(MemoryLayout<UInt16>.size + MemoryLayout<UInt64>.size)
    if try reader.word() != version.rawValue { throw .damagedRecord("it is of another version") }
    try reader.skip(3 * MemoryLayout<UInt64>.size)
    return try reader.word()
  }

  /// The same as `decodeHeader`, and returns the reader positioned after it.
  private static func openHeader(
    _ bytes: UnsafeRawBufferPointer, version: Version, skippingOrigin: Bool = false
  ) throws(StorageError) -> (header: Header, rest: RecordReader) {
    var reader = try unsafe open(bytes, version: version, classField: 0, chunk: 0)
    var header = try readHeaderStart(&reader)
    if header.to != version { throw .damagedRecord("it is of another version") }
    try readSummaries(&reader, into: &header)
    header.meta.note = try note(
      in: reader, isWhole: header.isWhole, skippingOrigin: skippingOrigin)
    return (header, reader)
  }

  /// The note after the summaries of chunk 0; nil in records of older libraries.
  private static func note(
    in rest: RecordReader, isWhole: Bool, skippingOrigin: Bool
  ) throws(StorageError) -> CommitNote? {
    var reader = rest
    if isWhole {
      guard reader.remaining > 3, try reader.byte() == Section.startOfClass else { return nil }
      _ = try reader.part(Int(try reader.word(UInt16.self)))
    }
    guard reader.remaining > 3, try reader.byte() == Section.note else { return nil }
    var part = try reader.part(Int(try reader.word(UInt16.self)))
    return try CommitNote(&part, skippingOrigin: skippingOrigin)
  }

  /// Reads one of the chunks 1..<`headerChunkCount` of the header, in order.
  package static func decodeHeaderChunk(
    _ bytes: UnsafeRawBufferPointer, chunk: UInt16, into header: inout Header
  ) throws(StorageError) {
    var reader = try unsafe open(bytes, version: header.to, classField: 0, chunk: chunk)
    try readSummaries(&reader, into: &header)
  }

  /// The contents of the header alone: the range, the classes and whether they were cleared. The
  /// chunks add the keys.
  package static func emptyChangeSet(_ header: Header) -> ChangeSet {
    ChangeSet(
      from: header.from, to: header.to,
      classes: header.classes.map { summary in
        var entry = ClassChanges(id: summary.id)
        entry.isCleared = summary.isCleared
        return entry
      }, schemaChanged: header.schemaChanged)
  }

  /// Reads the sections of a whole record in chunk 0, after the header.
  private static func decodeWhole(
    _ reader: inout RecordReader, into changes: inout ChangeSet,
    _ oldValues: inout OldValueSections?
  ) throws(StorageError) {
    var state = SectionState(oldValues: oldValues)
    try readSections(&reader, &state, into: &changes)
    try state.scripts.finish()
    oldValues = state.oldValues
  }

  /// The state of the reader of sections.
  private struct SectionState {
    /// The position of the class among the changes.
    var classIndex: Int?
    var scripts = SequenceReader()
    /// The sections of values before the commit; nil if they are not wanted.
    var oldValues: OldValueSections?
  }

  /// Decodes the whole record; `read` returns its values by (class field, chunk).
  ///
  /// - Throws: also `.corrupted` if a value is missing (`read` returns nil).
  package static func decode(
    version: Version, read: (UInt32, UInt16) throws(StorageError) -> UnsafeRawBufferPointer?
  ) throws(StorageError) -> (Header, ChangeSet) {
    var oldValues: OldValueSections?
    return try unsafe decode(version: version, &oldValues, read: read)
  }

  /// The same, and adds the sections of values before the commit to `oldValues` unless that is nil.
  ///
  /// - Parameter skippingOrigin: leaves the name of the program out of the note, for callers that
  ///   read very many records.
  package static func decode(
    version: Version, _ oldValues: inout OldValueSections?, skippingOrigin: Bool = false,
    read: (UInt32, UInt16) throws(StorageError) -> UnsafeRawBufferPointer?
  ) throws(StorageError) -> (Header, ChangeSet) {
    guard let first = unsafe try read(0, 0) else { throw .damagedRecord("its header is missing") }
    var (header, rest) = try unsafe openHeader(
      first, version: version, skippingOrigin: skippingOrigin)
    for chunk in 1..<max(1, header.headerChunkCount) {
      guard let bytes = unsafe try read(0, chunk) else {
        throw .damagedRecord("a part of its header is missing")
      }
      try unsafe decodeHeaderChunk(bytes, chunk: chunk, into: &header)
    }
    guard header.classes.count == header.classCount else {
      throw .damagedRecord("its header does not name all classes")
    }
    var changes = emptyChangeSet(header)
    if header.isWhole {
      try decodeWhole(&rest, into: &changes, &oldValues)
      for (summary, entry) in zip(header.classes, changes.classes) { try check(entry, summary) }
      return (header, changes)
    }
    for summary in header.classes {
      guard summary.id.rawValue < UInt32.max else { throw .damagedRecord("a class is too large") }
      var state = SectionState(
        classIndex: changes.classes.firstIndex(ofID: summary.id), oldValues: oldValues)
      oldValues = oldValues.map { _ in OldValueSections() }
      for chunk in 0..<summary.chunkCount {
        let field = summary.id.rawValue + 1
        guard let bytes = unsafe try read(field, chunk) else {
          throw .damagedRecord("a chunk is missing")
        }
        var reader = try unsafe open(bytes, version: version, classField: field, chunk: chunk)
        try readSections(&reader, &state, into: &changes)
      }
      try state.scripts.finish()
      oldValues = state.oldValues
      try check(changes.classes[state.classIndex!], summary)
    }
    return (header, changes)
  }

  /// The sections must match the header.
  private static func check(
    _ entry: ClassChanges, _ summary: Summary
  ) throws(StorageError) {
    let touched = entry.touched.reduce(0) { saturatingSum($0, $1.keys.count) }
    guard entry.inserted.count == summary.insertedCount,
      entry.deleted.count == summary.deletedCount, touched == summary.touchedCount,
      entry.touchedColumns == summary.touchedColumns,
      entry.backTouched.isEmpty != summary.hasBackTouched
    else { throw .damagedRecord("its parts contradict its header") }
  }

  /// Checks the start that all values have.
  static func open(
    _ bytes: UnsafeRawBufferPointer, version: Version, classField: UInt32, chunk: UInt16
  ) throws(StorageError) -> RecordReader {
    guard bytes.count >= chunkStartBytes && bytes.count <= chunkBytesMax else {
      throw .damagedRecord("a value has an impossible length")
    }
    var reader = unsafe RecordReader(bytes)
    let stored = try reader.word(UInt32.self)
    let sum = unsafe checksum(
      of: bytes, version: version, classField: classField, chunk: chunk)
    if sum != stored { throw .damagedRecord("a checksum does not match") }
    if try reader.byte() != format { throw .newerRecord("an unknown format") }
    return reader
  }

  private static func readHeaderStart(
    _ reader: inout RecordReader
  ) throws(StorageError) -> Header {
    let flags = try reader.byte()
    if flags & ~Flag.known != 0 { throw .newerRecord("an unknown flag") }
    let headerChunkCount = try reader.word(UInt16.self)
    let from = Version(try reader.word(UInt64.self))
    let to = Version(try reader.word(UInt64.self))
    let history = Bytes16(
      high: try reader.word(UInt64.self), low: try reader.word(UInt64.self))
    let meta = Meta(
      historyID: history, commitID: try reader.word(UInt64.self),
      transactionID: try reader.word(UInt64.self), schemaEpoch: try reader.word(UInt64.self))
    let classCount = try reader.word(UInt32.self)
    if from >= to { throw .damagedRecord("its versions are in the wrong order") }
    return Header(
      meta: meta, from: from, to: to, schemaChanged: flags & Flag.schemaChanged != 0,
      isWhole: flags & Flag.isWhole != 0, headerChunkCount: headerChunkCount,
      classCount: Int(classCount), classes: [])
  }

  /// Reads up to the summary of a record that has one class and one value, without building a
  /// header.
  ///
  /// - Returns: the id of the commit; nil for another kind of record.
  static func readStartOfOneClass(
    _ reader: inout RecordReader, _ version: Version
  ) throws(StorageError) -> UInt64? {
    guard try reader.byte() == Flag.isWhole, try reader.word(UInt16.self) == 1 else { return nil }
    let from = try reader.word(UInt64.self)
    guard try reader.word(UInt64.self) == version.rawValue, from < version.rawValue else {
      return nil
    }
    try reader.skip(MemoryLayout<UInt64>.size * 2)
    let commitID = try reader.word(UInt64.self)
    try reader.skip(MemoryLayout<UInt64>.size * 2)
    guard try reader.word(UInt32.self) == 1, try reader.word(UInt16.self) == 1 else { return nil }
    return commitID
  }

  private static func readSummaries(
    _ reader: inout RecordReader, into header: inout Header
  ) throws(StorageError) {
    let count = try reader.word(UInt16.self)
    header.classes.reserveCapacity(header.classes.count + min(Int(count), reader.remaining / 7))
    for _ in 0..<count {
      let summary = try readSummary(&reader)
      if let last = header.classes.last, last.id >= summary.id {
        throw .damagedRecord("classes out of order")
      }
      header.classes.append(summary)
    }
  }

  static func readSummary(_ reader: inout RecordReader) throws(StorageError) -> Summary {
    let id = ClassID(try reader.number(UInt32.self))
    let flags = try reader.varint()
    if flags & ~SummaryFlag.known != 0 { throw .newerRecord("an unknown flag of a class") }
    return Summary(
      id: id, isCleared: flags & SummaryFlag.isCleared != 0,
      hasBackTouched: flags & SummaryFlag.hasBackTouched != 0,
      chunkCount: try reader.number(), insertedCount: try reader.number(),
      deletedCount: try reader.number(), touchedCount: try reader.number(),
      touchedColumns: ColumnMask(bits: try reader.varint()))
  }

  private static func readSections(
    _ reader: inout RecordReader, _ state: inout SectionState, into changes: inout ChangeSet
  ) throws(StorageError) {
    while reader.remaining > 0 {
      let kind = try reader.byte()
      var part = try reader.part(Int(try reader.word(UInt16.self)))
      if kind != Section.sequence { try state.scripts.finish() }
      if kind == Section.startOfClass {
        let id = ClassID(try part.number(UInt32.self))
        let found = changes.classes.firstIndex(ofID: id)
        guard found < changes.classes.count && changes.classes[found].id == id else {
          throw .damagedRecord("sections of a class that its header does not name")
        }
        state.classIndex = found
      } else if let index = state.classIndex {
        if Section.oldValues.contains(kind) {
          let bytes = unsafe [UInt8](try part.rest(of: part.remaining))
          state.oldValues?.append(kind, bytes, of: changes.classes[index].id)
        } else if kind == Section.sequence {
          try state.scripts.read(&part, into: &changes.classes[index].sequences)
        } else {
          try readSection(kind, &part, into: &changes.classes[index])
        }
      } else {
        throw .damagedRecord("sections without a class")
      }
    }
  }

  private static func readSection(
    _ kind: UInt8, _ part: inout RecordReader, into entry: inout ClassChanges
  ) throws(StorageError) {
    switch kind {
    case Section.inserted: try readKeys(&part, into: &entry.inserted)
    case Section.deleted: try readKeys(&part, into: &entry.deleted)
    case Section.touched:
      let column = ColumnID(try part.number(UInt16.self))
      if entry.touched.last?.column != column {
        if let last = entry.touched.last, last.column > column {
          throw .damagedRecord("columns out of order")
        }
        entry.touched.append(.init(column: column, keys: KeySet()))
      }
      try readKeys(&part, into: &entry.touched[entry.touched.count - 1].keys)
    case Section.backTouched:
      let origin = ClassID(try part.number(UInt32.self))
      let column = ColumnID(try part.number(UInt16.self))
      let last = entry.backTouched.last
      if last?.origin != origin || last?.column != column {
        if let last, (last.origin, last.column) > (origin, column) {
          throw .damagedRecord("columns out of order")
        }
        entry.backTouched.append(.init(origin: origin, column: column, keys: KeySet()))
      }
      try readKeys(&part, into: &entry.backTouched[entry.backTouched.count - 1].keys)
    default:
      if kind & Section.optionalBit == 0 { throw .newerRecord("an unknown kind of section") }
    }
  }
}
