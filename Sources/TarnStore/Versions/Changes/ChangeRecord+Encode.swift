extension ChangeRecord {
  /// The record of one commit, in the order of its keys. `meta.note`, if it exists, has the size of
  /// the log before the commit; this record's size is added to it.
  ///
  /// - Throws: `.limitExceeded` if a class needs more than 65,535 chunks, which takes a commit of
  ///   tens of millions of scattered keys.
  package static func encode(
    _ changes: ChangeSet, _ meta: Meta, _ oldValues: OldValueSections = OldValueSections()
  ) throws(StorageError) -> [Piece] {
    var meta = meta
    return try encode(changes, &meta, oldValues)
  }

  /// The same; updates `meta.note` to the note as it was written.
  package static func encode(
    _ changes: ChangeSet, _ meta: inout Meta, _ oldValues: OldValueSections = OldValueSections()
  ) throws(StorageError) -> [Piece] {
    var place = 0
    var pieces = try encode(changes, meta, oldValues, noteAt: &place)
    if meta.note != nil {
      meta.note?.logBytes &+= UInt64(pieces.reduce(oldValues.longByteCount) { $0 + $1.bytes.count })
      pieces[0].patch(meta.note?.logBytes ?? 0, at: place)
    }
    for index in pieces.indices { pieces[index].reseal(version: changes.to) }
    return pieces
  }

  private static func encode(
    _ changes: ChangeSet, _ meta: Meta, _ oldValues: OldValueSections, noteAt place: inout Int
  ) throws(StorageError) -> [Piece] {
    // In a record without classes, older libraries would skip the note and find no sections.
    if isSurelySmall(changes, oldValues), !changes.classes.isEmpty || meta.note == nil {
      var writer = RecordWriter(capacity: 256)
      writeHeaderStart(changes, meta, isWhole: true, into: &writer)
      // Through a pointer, which copies no changes.
      unsafe changes.classes.withUnsafeBufferPointer { classes in
        for index in classes.indices {
          unsafe writeSummary(classes[index], chunkCount: 0, into: &writer)
        }
      }
      writer.patch(UInt16(changes.classes.count), at: summaryCountOffset)
      var sink = SectionSink(writer)
      unsafe changes.classes.withUnsafeBufferPointer { classes in
        for index in classes.indices {
          let id = unsafe classes[index].id
          sink.startOfClass(id)
          if index == 0, let note = meta.note { place = note.write(into: &sink.writer) }
          unsafe sink.sections(of: classes[index])
          if !oldValues.isEmpty { sink.oldValues(oldValues[id]) }
        }
      }
      return [piece(sink.writer.bytes, classField: 0, chunk: 0)]
    }
    return try encodeLarge(changes, meta, oldValues, noteAt: &place)
  }

  /// True if everything fits one chunk even with numbers of maximum length.
  private static func isSurelySmall(_ changes: ChangeSet, _ oldValues: OldValueSections) -> Bool {
    guard changes.classes.count <= 8 else { return false }
    var bytes = headerBytes + CommitNote.bytesMax + oldValues.byteCount
    for index in changes.classes.indices {
      let entry = changes.classes[index]
      bytes += 60 + (entry.inserted.runs.count + entry.deleted.runs.count) * 30
      for touched in entry.touched { bytes += 10 + touched.keys.runs.count * 30 }
      for touched in entry.backTouched { bytes += 20 + touched.keys.runs.count * 30 }
      for change in entry.sequences { bytes += SequencePart.bytesMax(change.script) }
      if bytes > chunkBytesMax { return false }
    }
    return true
  }

  private static func encodeLarge(
    _ changes: ChangeSet, _ meta: Meta, _ oldValues: OldValueSections, noteAt place: inout Int
  ) throws(StorageError) -> [Piece] {
    var chunksOfClasses: [[[UInt8]]] = []
    var sectionBytes = 0
    for entry in changes.classes {
      var sink = SectionSink(chunkStart())
      sink.sections(of: entry)
      let plain = sink
      sink.oldValues(oldValues[entry.id])
      var chunks = sink.finish()
      // Committing without old values is better than not committing.
      if chunks.count > Int(UInt16.max) { chunks = plain.finish() }
      guard chunks.count <= Int(UInt16.max) else {
        throw StorageError(
          .limitExceeded, operation: "commit", path: "",
          detail: "One write changed too many objects. Split it into smaller writes.")
      }
      sectionBytes = chunks.reduce(sectionBytes + 8) { $0 + $1.count }
      chunksOfClasses.append(chunks)
    }
    let noteBytes = meta.note == nil ? 0 : CommitNote.bytesMax
    let isWhole =
      headerBytes + noteBytes + changes.classes.count * 60 + sectionBytes <= chunkBytesMax
      && (!changes.classes.isEmpty || meta.note == nil)
    var pieces = encodeHeader(changes, meta, chunksOfClasses, isWhole: isWhole, noteAt: &place)
    if isWhole { return pieces }
    for (entry, chunks) in zip(changes.classes, chunksOfClasses) {
      for (index, bytes) in chunks.enumerated() {
        pieces.append(piece(bytes, classField: entry.id.rawValue + 1, chunk: UInt16(index)))
      }
    }
    return pieces
  }

  private static func encodeHeader(
    _ changes: ChangeSet, _ meta: Meta, _ chunksOfClasses: [[[UInt8]]], isWhole: Bool,
    noteAt place: inout Int
  ) -> [Piece] {
    var writer = RecordWriter(capacity: chunkBytesMax)
    writeHeaderStart(changes, meta, isWhole: isWhole, into: &writer)
    var finished: [[UInt8]] = []
    var countOffset = summaryCountOffset
    var count: UInt16 = 0
    for (entry, chunks) in zip(changes.classes, chunksOfClasses) {
      let room = finished.isEmpty && meta.note != nil ? CommitNote.bytesMax : 0
      if writer.bytes.count + 60 + room > chunkBytesMax {
        writer.patch(count, at: countOffset)
        if finished.isEmpty, let note = meta.note { place = note.write(into: &writer) }
        finished.append(writer.bytes)
        writer = chunkStart()
        countOffset = writer.bytes.count
        count = 0
        writer.word(UInt16(0))
      }
      writeSummary(entry, chunkCount: isWhole ? 0 : UInt16(chunks.count), into: &writer)
      count += 1
    }
    writer.patch(count, at: countOffset)
    if !isWhole, finished.isEmpty, let note = meta.note { place = note.write(into: &writer) }
    if isWhole {
      var sink = SectionSink(writer)
      for (number, (entry, chunks)) in zip(changes.classes, chunksOfClasses).enumerated() {
        sink.startOfClass(entry.id)
        if number == 0, let note = meta.note { place = note.write(into: &sink.writer) }
        for chunk in chunks { sink.writer.bytes += chunk[chunkStartBytes...] }
      }
      writer = sink.writer
    }
    finished.append(writer.bytes)
    withHeaderCount(UInt16(finished.count), &finished[0])
    return finished.enumerated().map { index, bytes in
      piece(bytes, classField: 0, chunk: UInt16(index))
    }
  }

  private static func withHeaderCount(_ count: UInt16, _ bytes: inout [UInt8]) {
    bytes[6] = UInt8(truncatingIfNeeded: count)
    bytes[7] = UInt8(truncatingIfNeeded: count >> 8)
  }

  static let chunkStartBytes = 5
  /// The bytes of chunk 0 before its summaries, with their count.
  static let headerBytes = 70
  private static let summaryCountOffset = 68

  private static func chunkStart() -> RecordWriter {
    var writer = RecordWriter(capacity: 512)
    writer.word(UInt32(0))
    writer.byte(format)
    return writer
  }

  private static func writeHeaderStart(
    _ changes: ChangeSet, _ meta: Meta, isWhole: Bool, into writer: inout RecordWriter
  ) {
    let flags = (changes.schemaChanged ? Flag.schemaChanged : 0) | (isWhole ? Flag.isWhole : 0)
    // At once: every commit writes one.
    var start = InlineArray<70, UInt8>(repeating: 0)
    unsafe withUnsafeMutableBytes(of: &start) { bytes in
      func store<T: FixedWidthInteger>(_ number: T, _ offset: Int) {
        unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
      }
      store(format, 4)
      store(flags, 5)
      store(UInt16(1), 6)
      store(changes.from.rawValue, 8)
      store(changes.to.rawValue, 16)
      store(meta.historyID.high, 24)
      store(meta.historyID.low, 32)
      store(meta.commitID, 40)
      store(meta.transactionID, 48)
      store(meta.schemaEpoch, 56)
      store(UInt32(changes.classes.count), 64)
      unsafe writer.bytes.append(contentsOf: UnsafeRawBufferPointer(bytes))
    }
    assert(writer.bytes.count == headerBytes)
  }

  private static func writeSummary(
    _ entry: ClassChanges, chunkCount: UInt16, into writer: inout RecordWriter
  ) {
    writer.varint(UInt64(entry.id.rawValue))
    writer.varint(
      (entry.isCleared ? SummaryFlag.isCleared : 0)
        | (entry.backTouched.isEmpty ? 0 : SummaryFlag.hasBackTouched))
    writer.varint(UInt64(chunkCount))
    writer.varint(UInt64(entry.inserted.count))
    writer.varint(UInt64(entry.deleted.count))
    var touchedCount = 0
    for touched in entry.touched { touchedCount = saturatingSum(touchedCount, touched.keys.count) }
    writer.varint(UInt64(touchedCount))
    writer.varint(entry.touchedColumns.bits)
  }

  /// A piece whose checksum is not yet computed.
  private static func piece(
    _ bytes: consuming [UInt8], classField: UInt32, chunk: UInt16
  ) -> Piece {
    assert(bytes.count <= chunkBytesMax)
    return Piece(classField: classField, chunk: chunk, bytes: bytes)
  }
}

/// Collects sections, starting a new chunk when one is full.
struct SectionSink {
  var writer: RecordWriter
  private var finished: [[UInt8]] = []

  init(_ writer: RecordWriter) { self.writer = writer }

  mutating func startOfClass(_ id: ClassID) {
    let start = beginSection(ChangeRecord.Section.startOfClass)
    writer.varint(UInt64(id.rawValue))
    endSection(start)
  }

  mutating func sections(of entry: ClassChanges) {
    if !entry.inserted.isEmpty { keys(entry.inserted, ChangeRecord.Section.inserted) }
    if !entry.deleted.isEmpty { keys(entry.deleted, ChangeRecord.Section.deleted) }
    for touched in entry.touched {
      keys(touched.keys, ChangeRecord.Section.touched, UInt64(touched.column.rawValue))
    }
    for touched in entry.backTouched {
      keys(
        touched.keys, ChangeRecord.Section.backTouched, UInt64(touched.origin.rawValue),
        UInt64(touched.column.rawValue))
    }
    for change in entry.sequences { script(of: change) }
  }

  /// Appends finished sections.
  mutating func oldValues(_ sections: [[UInt8]]) {
    for section in sections {
      if writer.bytes.count + section.count > ChangeRecord.chunkBytesMax { beginChunk() }
      writer.bytes += section
    }
  }

  /// The chunks, none without sections.
  consuming func finish() -> [[UInt8]] {
    if writer.bytes.count > ChangeRecord.chunkStartBytes { finished.append(writer.bytes) }
    return finished
  }

  mutating func beginSection(_ kind: UInt8) -> Int {
    writer.byte(kind)
    writer.word(UInt16(0))
    return writer.bytes.count
  }

  mutating func endSection(_ start: Int) {
    writer.patch(UInt16(writer.bytes.count - start), at: start - 2)
  }

  private mutating func keys(_ keys: KeySet, _ kind: UInt8, _ prefix: UInt64...) {
    var index = 0
    var next = Int64.min
    let asBitmaps = ChangeRecord.prefersBitmaps(keys)
    while index < keys.runs.count {
      if writer.bytes.count + 64 > ChangeRecord.chunkBytesMax { beginChunk() }
      let start = beginSection(kind)
      for number in prefix { writer.varint(number) }
      let limit = ChangeRecord.chunkBytesMax - writer.bytes.count
      if asBitmaps {
        ChangeRecord.writeBitmaps(keys, from: &index, next: &next, limit: limit, into: &writer)
      } else {
        ChangeRecord.writeRuns(keys, from: &index, limit: limit, into: &writer)
      }
      endSection(start)
    }
  }

  mutating func beginChunk() {
    finished.append(writer.bytes)
    writer.bytes.removeSubrange(ChangeRecord.chunkStartBytes...)
  }
}
