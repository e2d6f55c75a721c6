/// A commit's change set as bytes in the file.
///
/// One record is several values of at most 2 KB, each under the key (version, class field, chunk):
///
///     field 0, chunk 0     the header: data about the commit, and a summary of each class
///     field 0, chunk 1...  more summaries, if a commit touched very many classes
///     field id + 1         the class's sections, in as many chunks as they need
///
/// If all sections fit next to the summaries, they are also in chunk 0, and there are no other
/// values: a small commit, the usual case, writes one value and a reader looks up one. A summary
/// has counts and the mask of touched columns, so a reader can skip an irrelevant commit after
/// reading only the header.
///
///     each value           checksum u32 | format u8 | ...
///     chunk 0              ... flags u8 | header chunks u16 | from u64 | to u64 | history 16 |
///                          commit id u64 | transaction id u64 | schema epoch u64 |
///                          classes u32 | summaries here u16 | summaries | sections
///     chunk 1... of 0      ... summaries here u16 | summaries
///     summary              class, flags, chunks, inserted, deleted, touched, mask (varints)
///     class chunk          ... sections
///     section              kind u8 | length u16 | payload
///
/// The checksum (CRC-32C) covers the value and its key, so that a value under a wrong key is
/// detected. An unknown section kind is skipped if its top bit is set; otherwise the record needs a
/// newer reader. Kinds 16 to 31 are for lists, sets and maps, 32 to 47 for values before the
/// commit, which a change set does not have: `OldValueSections` hands them on as bytes.
package enum ChangeRecord {
  /// The longest value of a record, in bytes.
  package static let chunkBytesMax = 2048
  static let format: UInt8 = 1

  /// A record's data about its commit other than the changes.
  package struct Meta: Equatable, Sendable {
    /// The history of the file: an independent copy gets another one.
    package var historyID: Bytes16
    /// Random: distinguishes commits that made the same version in copies.
    package var commitID: UInt64
    /// The LMDB id of the transaction that contains the record; it decides when no pinned snapshot
    /// can need the record any more.
    package var transactionID: UInt64
    package var schemaEpoch: UInt64
    /// When the commit was made, and by whom; nil in records of older libraries.
    package var note: CommitNote?

    package init(
      historyID: Bytes16, commitID: UInt64, transactionID: UInt64, schemaEpoch: UInt64,
      note: CommitNote? = nil
    ) {
      self.historyID = historyID
      self.commitID = commitID
      self.transactionID = transactionID
      self.schemaEpoch = schemaEpoch
      self.note = note
    }
  }

  /// One value of a record and the end of its key.
  package struct Piece: Equatable, Sendable {
    /// 0 for the header, otherwise the class's id plus one.
    package var classField: UInt32
    package var chunk: UInt16
    package var bytes: [UInt8]

    package init(classField: UInt32, chunk: UInt16, bytes: [UInt8]) {
      self.classField = classField
      self.chunk = chunk
      self.bytes = bytes
    }
  }

  /// A class's summary in the header.
  package struct Summary: Equatable, Sendable {
    package var id: ClassID
    package var isCleared: Bool
    package var hasBackTouched: Bool
    /// The number of chunks under the class's own field; 0 if its sections are in the header.
    package var chunkCount: UInt16
    package var insertedCount: Int
    package var deletedCount: Int
    /// The sum over all columns.
    package var touchedCount: Int
    package var touchedColumns: ColumnMask
  }

  package struct Header: Equatable, Sendable {
    package var meta: Meta
    package var from: Version
    package var to: Version
    package var schemaChanged: Bool
    /// True if chunk 0 of the header has the sections of all classes.
    package var isWhole: Bool
    package var headerChunkCount: UInt16
    package var classCount: Int
    /// In the order of the ids; complete once all header chunks were read.
    package var classes: [Summary]

    /// The summary of that class, nil if the commit did not change it.
    package subscript(id: ClassID) -> Summary? { classes.first { $0.id == id } }
  }

  enum Flag {
    static let schemaChanged: UInt8 = 1
    static let isWhole: UInt8 = 2
    static let known: UInt8 = 3
  }

  enum SummaryFlag {
    static let isCleared: UInt64 = 1
    static let hasBackTouched: UInt64 = 2
    static let known: UInt64 = 3
  }

  enum Section {
    /// Everything up to the next one of these belongs to the class in the payload.
    static let startOfClass: UInt8 = 1
    static let inserted: UInt8 = 2
    static let deleted: UInt8 = 3
    /// Payload: column, key set.
    static let touched: UInt8 = 4
    /// Payload: origin class, origin column, key set.
    static let backTouched: UInt8 = 5
    /// Payload: see `SequencePart`.
    static let sequence: UInt8 = 16
    /// Values before the commit; the known kinds are those of `OldValueKind`.
    static let oldValues: ClosedRange<UInt8> = 32...36
    /// A section of that range with keys that the change set lacks.
    static let oldValueKeys: UInt8 = 35
    /// A section of that range without values.
    static let oldValueLevel: UInt8 = 36
    static let optionalBit: UInt8 = 0x80
    /// Payload: see `CommitNote`. In a whole record it follows the first start of a class,
    /// otherwise the summaries in chunk 0, where libraries that do not know it read nothing.
    static let note: UInt8 = 0x81
  }

  /// The key of a value, mixed into its checksum.
  static func checksum(
    of bytes: UnsafeRawBufferPointer, version: Version, classField: UInt32, chunk: UInt16
  ) -> UInt32 {
    let mixed = version.rawValue &* 0x9E37_79B9_7F4A_7C15
    let seed = UInt32(truncatingIfNeeded: mixed >> 32) ^ classField ^ (UInt32(chunk) << 16)
    return unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[4...]), after: seed)
  }
}

extension ChangeRecord.Piece {
  /// Overwrites a word, little endian.
  mutating func patch(_ value: UInt64, at offset: Int) {
    for index in 0..<8 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8))
    }
  }

  /// Makes the checksum valid for the current bytes, so that tests and tools can try readers with
  /// arbitrary bytes.
  package mutating func reseal(version: Version) {
    let sum = unsafe bytes.withUnsafeBytes {
      unsafe ChangeRecord.checksum(
        of: $0, version: version, classField: classField, chunk: chunk)
    }
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: sum >> UInt32(index * 8)) }
  }
}

/// The sections of a change record with values before the commit, as bytes: they are decoded
/// elsewhere, separately from the change set.
package struct OldValueSections: Equatable, Sendable {
  /// By class, each with its kind and length, as in the record.
  private var classes: [ClassID: [[UInt8]]] = [:]
  /// The bytes of all sections.
  package private(set) var byteCount = 0
  /// The size of the long values that they refer to, which are stored under separate keys.
  package var longByteCount = 0

  package init() {}

  package var isEmpty: Bool { classes.isEmpty }

  /// The sections of a class in order.
  package subscript(id: ClassID) -> [[UInt8]] { classes[id] ?? [] }

  /// Adds a section with that payload.
  package mutating func append(_ kind: UInt8, _ payload: [UInt8], of id: ClassID) {
    assert(
      payload.count + Self.startBytes + ChangeRecord.chunkStartBytes
        <= ChangeRecord.chunkBytesMax)
    let length = UInt16(payload.count)
    var section = [kind, UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
    section += payload
    byteCount += section.count
    classes[id, default: []].append(section)
  }

  /// The bytes before a section's payload: kind and length.
  static let startBytes = 3
}
