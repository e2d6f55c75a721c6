/// The record of the store's version in the tree. Every commit writes it, in the same transaction
/// as everything else; a reader sees the version that it finds there.
///
///      0  u32  magic                 4  u32  format
///      8  u64  version              16  u64  commit id
///     24  16 bytes  history id      40  u64  schema epoch
///     48  u64  feature flags        56  u64  schema version of the model
///     64  u64  next collection id   72  u32  0
///     76  u8   durability           77  u8   the commit's header page was not synced
///     78  2 x 0                     80  u32  checksum of all before it
///
/// Little endian. Every format, including later ones, starts with magic and format and ends with
/// the CRC-32C of the rest: so a damaged record is not mistaken for a newer one.
package struct HeadRecord: Equatable, Sendable {
  package static let currentFormat: UInt32 = 1
  /// The file has cursors, or keeps change records for a time: its writers must not remove these.
  package static let feedFeature: UInt64 = 1
  /// The features that this library supports.
  package static let knownFeatures = feedFeature
  package static let byteCount = 84
  /// Counters never get this high, so adding to a stored one never overflows.
  static let counterMax: UInt64 = 1 << 62
  private static let magic: UInt32 = 0x6e72_6154
  private static let byteCountMin = 12

  package var version: Version
  /// Random, new at each commit: distinguishes commits of the same version.
  package var commitID: UInt64
  /// Random, new for each file and each copy of one: identifies the sequence of commits.
  package var historyID: Bytes16
  /// Incremented whenever the schema changes, so that schemas need not be compared.
  package var schemaEpoch: UInt64
  package var featureFlags: UInt64
  /// The schema version that the program gave to its model, for migrations.
  package var schemaVersion: UInt64
  /// The counter for ids of collections and of other data outside of clusters.
  package var nextCollectionID: CollectionID
  /// How durable commits to this file are. The codec does not interpret the number.
  package var durability: UInt8
  /// Whether the commit that wrote this did not wait for its header page to be synced.
  package var isHeaderUnsynced = false

  package init(historyID: Bytes16, commitID: UInt64) {
    self.version = .zero
    self.commitID = commitID
    self.historyID = historyID
    self.schemaEpoch = 0
    self.featureFlags = 0
    self.schemaVersion = 0
    self.nextCollectionID = CollectionID(1)
    self.durability = 0
  }

  /// Calls `body` with the encoded record, which is valid only during the call.
  package func withEncoded<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    var storage = InlineArray<84, UInt8>(repeating: 0)
    return try unsafe withUnsafeMutableBytes(of: &storage) { bytes throws(E) -> R in
      unsafe encode(into: bytes)
      return try unsafe body(UnsafeRawBufferPointer(bytes))
    }
  }

  private func encode(into bytes: UnsafeMutableRawBufferPointer) {
    func store<T: FixedWidthInteger>(_ number: T, _ offset: Int) {
      unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
    }
    store(Self.magic, 0)
    store(Self.currentFormat, 4)
    store(version.rawValue, 8)
    store(commitID, 16)
    store(historyID.high.byteSwapped, 24)
    store(historyID.low.byteSwapped, 32)
    store(schemaEpoch, 40)
    store(featureFlags, 48)
    store(schemaVersion, 56)
    store(nextCollectionID.rawValue, 64)
    store(durability, 76)
    store(UInt8(isHeaderUnsynced ? 1 : 0), 77)
    unsafe RecordSeal.close(bytes)
  }

  /// Reads a record.
  /// - Throws: `.corrupted` if the bytes are not a head record; `.newerFormat` if its format or one
  ///   of its features is not supported by this library.
  package init(
    decoding bytes: UnsafeRawBufferPointer, knowing features: UInt64 = knownFeatures
  ) throws(StorageError) {
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> T {
      unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    guard bytes.count >= Self.byteCountMin, load(0) == Self.magic else {
      throw Self.problem(.corrupted, "The head record is missing or is not a head record.")
    }
    guard unsafe RecordSeal.contentCount(bytes) != nil else {
      throw Self.problem(.corrupted, "The checksum of the head record is wrong.")
    }
    let format: UInt32 = load(4)
    guard format <= Self.currentFormat else {
      throw Self.problem(
        .newerFormat,
        "The file has format \(format), this library reads up to "
          + "\(Self.currentFormat). Update the library.")
    }
    guard format == Self.currentFormat, bytes.count == Self.byteCount else {
      throw Self.problem(.corrupted, "The head record has an impossible format or length.")
    }
    featureFlags = load(48)
    let unknown = featureFlags & ~features
    guard unknown == 0 else {
      throw Self.problem(
        .newerFormat,
        "The file uses features (0x\(String(unknown, radix: 16))) that this "
          + "library does not support. Update the library.")
    }
    version = Version(load(8))
    commitID = load(16)
    historyID = Bytes16(
      high: (load(24) as UInt64).byteSwapped, low: (load(32) as UInt64).byteSwapped)
    schemaEpoch = load(40)
    schemaVersion = load(56)
    nextCollectionID = CollectionID(load(64))
    durability = load(76)
    isHeaderUnsynced = load(77) as UInt8 != 0
    guard max(version.rawValue, schemaEpoch, nextCollectionID.rawValue) < Self.counterMax,
      nextCollectionID.rawValue > 0
    else { throw Self.problem(.corrupted, "The head record has an impossible counter.") }
  }

  /// Whether the version survives a power failure by itself.
  package var isOnDisk: Bool { durability == 0 && !isHeaderUnsynced }

  /// Whether both belong to one commit, with the same schema. Cursors may have changed between them
  /// without a commit of objects.
  package func isSameCommit(as other: HeadRecord) -> Bool {
    var mine = self
    mine.featureFlags = other.featureFlags
    mine.isHeaderUnsynced = other.isHeaderUnsynced
    return mine == other
  }

  private static func problem(_ code: StorageError.Code, _ detail: String) -> StorageError {
    StorageError(code, operation: "read head record", path: "", detail: detail)
  }
}
