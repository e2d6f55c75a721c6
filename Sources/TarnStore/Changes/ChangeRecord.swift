internal import CTarn

/// A commit's change set as bytes in the file.
///
/// One record is several values of at most 2 KB, each under the key (version, class field, chunk):
///
///     field 0, chunk 0     the header: who wrote what when, and a summary of each class
///     field 0, chunk 1...  more summaries, if a commit touched very many classes
///     field id + 1         the class's sections, in as many chunks as they need
///
/// If all sections fit beside the summaries, they are in chunk 0 as well and there is nothing
/// else: a small commit, which most are, writes one value and a reader looks up one. A summary
/// holds counts and the mask of touched columns, so a reader whom a commit does not concern
/// decides that by the header alone.
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
/// The checksum (CRC-32C) covers the value and the key under which it belongs, so that a value
/// under a wrong key is noticed. A section kind that a reader does not know is skipped if its top
/// bit is set, else the record needs a newer reader. Kinds 16 to 31 are meant for lists,
/// sets and maps, 32 to 47 for values before the commit.
package enum ChangeRecord {
  /// No value of a record is longer, in bytes.
  package static let chunkBytesMax = 2048
  static let format: UInt8 = 1

  /// What the writer of a record says about its commit beside the changes.
  package struct Meta: Equatable, Sendable {
    /// The history of the file: a copy that lives on separately gets another one.
    package var historyID: Bytes16
    /// Random, to tell a commit from another one that reached the same version in a copy.
    package var commitID: UInt64
    /// LMDB's id of the transaction that holds the record; it decides when no snapshot that is
    /// still in use can need the record.
    package var transactionID: UInt64
    package var schemaEpoch: UInt64

    package init(
      historyID: Bytes16, commitID: UInt64, transactionID: UInt64, schemaEpoch: UInt64
    ) {
      self.historyID = historyID
      self.commitID = commitID
      self.transactionID = transactionID
      self.schemaEpoch = schemaEpoch
    }
  }

  /// One value of a record and the end of its key.
  package struct Piece: Equatable, Sendable {
    /// 0 for the header, else the class's id and one.
    package var classField: UInt32
    package var chunk: UInt16
    package var bytes: [UInt8]

    package init(classField: UInt32, chunk: UInt16, bytes: [UInt8]) {
      self.classField = classField
      self.chunk = chunk
      self.bytes = bytes
    }
  }

  /// What the header says about a class.
  package struct Summary: Equatable, Sendable {
    package var id: ClassID
    package var isCleared: Bool
    package var hasBackTouched: Bool
    /// The number of chunks under the class's own field; 0 if its sections are in the header.
    package var chunkCount: UInt16
    package var insertedCount: Int
    package var deletedCount: Int
    /// The sum over the columns.
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

    /// The summary of that class, or nil if the commit left it alone.
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
    /// What follows, up to the next one of these, belongs to the class in the payload.
    static let startOfClass: UInt8 = 1
    static let inserted: UInt8 = 2
    static let deleted: UInt8 = 3
    /// Payload: column, key set.
    static let touched: UInt8 = 4
    /// Payload: origin class, origin column, key set.
    static let backTouched: UInt8 = 5
    /// Payload: see `SequencePart`.
    static let sequence: UInt8 = 16
    static let optionalBit: UInt8 = 0x80
  }

  /// Where a value belongs, mixed into its checksum.
  static func checksum(
    of bytes: UnsafeRawBufferPointer, version: Version, classField: UInt32, chunk: UInt16
  ) -> UInt32 {
    let mixed = version.rawValue &* 0x9E37_79B9_7F4A_7C15
    let seed = UInt32(truncatingIfNeeded: mixed >> 32) ^ classField ^ (UInt32(chunk) << 16)
    return unsafe tarn_crc32c_after(seed, bytes.baseAddress! + 4, bytes.count - 4)
  }
}

extension ChangeRecord.Piece {
  /// Makes the checksum right for whatever the bytes are now, so that tests and tools can try what
  /// a reader does with bytes that no writer of ours wrote.
  package mutating func reseal(version: Version) {
    let sum = unsafe bytes.withUnsafeBytes {
      unsafe ChangeRecord.checksum(
        of: $0, version: version, classField: classField, chunk: chunk)
    }
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: sum >> UInt32(index * 8)) }
  }
}
