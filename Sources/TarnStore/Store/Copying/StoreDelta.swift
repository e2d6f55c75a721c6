internal import CTarn
internal import Glibc

/// The difference of two copies of a store, as a file: the entries of the older one that the newer
/// one lacks or has with other values. The newer one and this file rebuild the older one.
///
///     magic u64, format u32, length of the newer copy's head record u32, that record
///     for each entry of the tree that differs, in the order of the keys:
///       length of the key u16, of the value u16, key, value
///       the length 0xffff says that the older copy does not have the key
///     length 0 u16, checksum of all entries of the older copy u32, that of all bytes before u32
///
/// The head record of a copy has a random history id, so it identifies the copy that a difference
/// is from.
/// The head record of the older copy is the last entry.
package enum StoreDelta {
  static let magic: UInt64 = 0x3144_4e52_4154_0a0d
  static let format: UInt32 = 2
  /// Without the checksum of the older copy.
  static let formatWithoutSum: UInt32 = 1
  static let absent: UInt16 = .max
  static let operation = "backup"

  /// Makes the file at the path, and checks that the older copy can be made of it. It appears
  /// complete and synced, or not at all.
  ///
  /// - Parameters: the paths of both copies, which no process may have open.
  /// - Returns: its length.
  /// Errors: `.fileExists`, `.alreadyOpen`, `.notFound`, `.permissionDenied`, `.diskFull`,
  /// `.inputOutput`; `.corrupted` if a page or an entry of a copy is damaged.
  package static func write(
    from newer: String, to older: String, at path: String
  ) throws(StorageError) -> Int {
    let (now, before) = (try RestingStore(newer), try RestingStore(older))
    let mode = FileFacts.at(older).map { $0.mode & 0o666 }
    let file = try FileInMaking(for: path, mode: mode, operation: operation)
    // Not during the comparison, which reads both: the error names the damaged one.
    for copy in [before, now] { try copy.checkEntries() }
    let byteCount = try fill(file.descriptor, path, now, before)
    try check("/proc/self/fd/\(file.descriptor)", path, now, before)
    try file.publish(replacing: false)
    return byteCount
  }

  private static func fill(
    _ file: Int32, _ path: String, _ newer: RestingStore, _ older: RestingStore
  ) throws(StorageError) -> Int {
    var writer = DeltaWriter(file, path, from: newer.head)
    var before = try Cursor(older.transaction)
    var now = try Cursor(newer.transaction)
    var (isBefore, isNow) = (try before.first(), try now.first())
    while isBefore || isNow {
      var order = isBefore ? -1 : 1
      if isBefore, isNow { order = unsafe compareBytes(before.key, now.key) }
      if order > 0 {
        unsafe try writer.append(now.key, nil)
      } else if order < 0 {
        unsafe try writer.append(before.key, before.value)
      } else if unsafe compareBytes(before.value, now.value) != 0 {
        unsafe try writer.append(before.key, before.value)
      }
      if order <= 0 {
        unsafe writer.wholeSum.add(before.key, before.value)
        isBefore = try before.next()
      }
      if order >= 0 { isNow = try now.next() }
    }
    return try writer.finish()
  }

  private static func check(
    _ file: String, _ path: String, _ newer: RestingStore, _ older: RestingStore
  ) throws(StorageError) {
    let wrong = damaged(path, "it does not lead to the older backup; both stay as they are")
    var before = try Cursor(older.transaction)
    var isBefore = try before.first()
    unsafe try DeltaMerge([file]).forEach(over: newer.transaction) {
      key, value throws(StorageError) in
      guard isBefore, unsafe compareBytes(key, before.key) == 0,
        unsafe compareBytes(value, before.value) == 0
      else { throw wrong }
      isBefore = try before.next()
    }
    if isBefore { throw wrong }
  }

  static func damaged(_ path: String, _ detail: String) -> StorageError {
    StorageError(.corrupted, operation: "restore", path: path, detail: detail)
  }
}

/// The checksum of all entries of a copy, in the order of their keys.
struct WholeSum {
  private(set) var value: UInt32 = 0

  mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let counts = UInt32(key.count) << 16 | UInt32(value.count)
    self.value = unsafe withUnsafeBytes(of: counts.littleEndian) {
      unsafe Checksum.of($0, after: self.value)
    }
    unsafe self.value = Checksum.of(key, after: self.value)
    unsafe self.value = Checksum.of(value, after: self.value)
  }
}

/// A store that no process has open, for reading: it needs no companions.
private final class RestingStore {
  let transaction: ReadTransaction
  let head: [UInt8]
  private let environment: Environment

  func checkEntries() throws(StorageError) {
    var check = EntryCheck(environment.path)
    var cursor = try Cursor(transaction)
    var isThere = try cursor.first()
    while isThere {
      unsafe try check.take(cursor.key, cursor.value)
      isThere = try cursor.next()
    }
    try check.finish()
  }

  init(_ path: String) throws(StorageError) {
    let file = try OwnedDescriptor(
      opening: path, flags: O_RDWR, operation: StoreDelta.operation)
    let isFree = Deadline(after: DataLocks.passing).wait {
      tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) == 0
    }
    guard isFree else {
      throw StorageError(
        .alreadyOpen, operation: StoreDelta.operation, path: path,
        detail: "a process has this backup open. End it first")
    }
    environment = try Environment.open(owned: file.raw, path: path)
    do throws(StorageError) {
      try environment.requireSoundPages()
      let transaction = try environment.beginRead()
      let head = unsafe try TreeKey.head.withBytes { key throws(StorageError) in
        unsafe try transaction.value(forKey: key).map { unsafe Array($0) }
      }
      guard let head else {
        throw StorageError(
          .notAStore, operation: StoreDelta.operation, path: path, detail: "it is not a store")
      }
      self.transaction = transaction
      self.head = head
    } catch {
      environment.close()
      throw error
    }
  }

  deinit {
    transaction.end()
    environment.close()
  }
}

private struct DeltaWriter {
  private let file: Int32
  private let path: String
  private var bytes: [UInt8] = []
  private var sum: UInt32 = 0
  /// That of the older copy.
  var wholeSum = WholeSum()
  private var byteCount = 0

  private static let batchByteCount = 1 << 20

  init(_ file: Int32, _ path: String, from head: [UInt8]) {
    self.file = file
    self.path = path
    append(StoreDelta.magic)
    append(StoreDelta.format)
    append(UInt32(head.count))
    bytes += head
  }

  private mutating func append(_ number: some FixedWidthInteger & BitwiseCopyable) {
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func append(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?
  ) throws(StorageError) {
    append(UInt16(key.count))
    append(unsafe value.map { UInt16($0.count) } ?? StoreDelta.absent)
    unsafe bytes.append(contentsOf: key)
    if let value = unsafe value { unsafe bytes.append(contentsOf: value) }
    if bytes.count >= Self.batchByteCount { try flush() }
  }

  /// Completes the file and syncs it.
  mutating func finish() throws(StorageError) -> Int {
    append(UInt16(0))
    append(wholeSum.value)
    try flush()
    append(sum)
    try flush()
    if fsync(file) != 0 { throw error(errno) }
    return byteCount
  }

  private mutating func flush() throws(StorageError) {
    sum = unsafe bytes.withUnsafeBytes { unsafe Checksum.of($0, after: sum) }
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(file, $0.baseAddress! + written, $0.count - written, off_t(byteCount))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        throw error(count < 0 ? errno : SizeLimit.reason(forShortWriteTo: file))
      }
      written += count
      byteCount += count
    }
    bytes.removeAll(keepingCapacity: true)
  }

  private func error(_ number: Int32) -> StorageError {
    StorageError(errno: number, operation: StoreDelta.operation, path: path)
  }
}

/// Reads the entries of a difference in their order. Confined to one thread.
final class DeltaReader {
  let path: String
  /// The head record of the newer copy.
  private(set) var base: [UInt8] = []
  /// Empty after the last entry.
  private(set) var key: [UInt8] = []
  /// Nil if the older copy does not have the key.
  private(set) var value: [UInt8]?
  /// The checksum of the older copy, after the last entry; nil in files of earlier versions.
  private(set) var wholeSum: UInt32?
  private var format = StoreDelta.format
  private let file: OwnedDescriptor
  private var bytes: [UInt8] = []
  private var at = 0
  private var sum: UInt32 = 0

  private static let batchByteCount = 1 << 20

  /// It is at the first entry.
  init(_ path: String) throws(StorageError) {
    self.path = path
    file = try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "restore")
    guard try number(UInt64.self) == StoreDelta.magic else {
      throw StoreDelta.damaged(path, "the file is not a difference of two backups")
    }
    format = try number(UInt32.self)
    guard format == StoreDelta.format || format == StoreDelta.formatWithoutSum else {
      throw StorageError(
        .newerFormat, operation: "restore", path: path,
        detail: "another version of tarn has made this difference of two backups")
    }
    base = try take(Int(number(UInt32.self)))
    try next()
  }

  func next() throws(StorageError) {
    let count = Int(try number(UInt16.self))
    guard count > 0 else {
      if format != StoreDelta.formatWithoutSum { wholeSum = try number(UInt32.self) }
      let known = sum
      guard try number(UInt32.self) == known else {
        throw StoreDelta.damaged(path, "the checksum of the file is wrong")
      }
      key = []
      return
    }
    let length = try number(UInt16.self)
    key = try take(count)
    value = length == StoreDelta.absent ? nil : try take(Int(length))
  }

  /// The value of the last entry, which is the head record of the older copy. The position stays.
  func lastValue() throws(StorageError) -> [UInt8] {
    let end = FileFacts.of(descriptor: file.raw)?.byteCount ?? 0
    var bytes = [UInt8](repeating: 0, count: HeadRecord.byteCount)
    let offset = end - Int64(bytes.count + endByteCount)
    guard offset > 0 else { throw cutOff }
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(file.raw, $0.baseAddress, $0.count, off_t(offset))
    }
    guard count >= 0 else { throw StorageError(errno: errno, operation: "restore", path: path) }
    guard count == bytes.count else { throw cutOff }
    return bytes
  }

  /// The length of what follows the last entry.
  private var endByteCount: Int { format == StoreDelta.formatWithoutSum ? 6 : 10 }

  private func number<T: FixedWidthInteger & BitwiseCopyable>(
    _: T.Type
  ) throws(StorageError) -> T {
    let bytes = try take(MemoryLayout<T>.size)
    return T(littleEndian: unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: T.self) })
  }

  private func take(_ count: Int) throws(StorageError) -> [UInt8] {
    guard count <= Self.batchByteCount else { throw cutOff }
    if bytes.count - at < count { try fill() }
    guard bytes.count - at >= count else { throw cutOff }
    let taken = Array(bytes[at..<at + count])
    at += count
    sum = unsafe taken.withUnsafeBytes { unsafe Checksum.of($0, after: sum) }
    return taken
  }

  private var cutOff: StorageError { StoreDelta.damaged(path, "the file ends too early") }

  private func fill() throws(StorageError) {
    bytes.removeFirst(at)
    at = 0
    var batch = [UInt8](repeating: 0, count: Self.batchByteCount)
    while bytes.count < Self.batchByteCount {
      let count = unsafe batch.withUnsafeMutableBytes {
        unsafe read(file.raw, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw StorageError(errno: errno, operation: "restore", path: path) }
      if count == 0 { return }
      bytes += batch.prefix(count)
    }
  }
}

/// The entries of an older copy: those of its difference first, then of the differences after it,
/// then of the newer copy.
struct DeltaMerge {
  private let deltas: [DeltaReader]

  /// - Parameter paths: the differences, that of the wanted copy first; each is from the next.
  init(_ paths: [String]) throws(StorageError) {
    var deltas: [DeltaReader] = []
    for path in paths { deltas.append(try DeltaReader(path)) }
    self.deltas = deltas
  }

  /// Calls `body` with each entry in the order of the keys.
  ///
  /// Errors: `.corrupted` if a difference is damaged, or is from another copy; after the last entry
  /// if the entries are not those of the older copy.
  func forEach(
    over transaction: ReadTransaction,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StorageError) -> Void
  ) throws(StorageError) {
    var sum = WholeSum()
    func take(
      _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StorageError) {
      unsafe sum.add(key, value)
      unsafe try body(key, value)
    }
    var cursor = try Cursor(transaction)
    var isThere = try cursor.first()
    while let least = unsafe least(isThere ? cursor.key : nil) {
      let sources = deltas.filter { $0.key == least }
      let isCursors = unsafe isThere && cursor.key.elementsEqual(least)
      if least.first == TreeKey.Tag.head.rawValue {
        try checkChain(isCursors ? unsafe Array(cursor.value) : [])
      }
      if let first = sources.first {
        if let value = first.value {
          try unsafe withBytes(of: least) { key throws(StorageError) in
            try unsafe withBytes(of: value) { value throws(StorageError) in
              try unsafe take(key, value)
            }
          }
        }
      } else {
        unsafe try take(cursor.key, cursor.value)
      }
      for source in sources { try source.next() }
      if isCursors { isThere = try cursor.next() }
    }
    if let wanted = deltas.first, let known = wanted.wholeSum, known != sum.value {
      throw StoreDelta.damaged(
        wanted.path,
        "the whole backup is damaged, or a difference: together they do not give this one")
    }
  }

  private func least(_ key: UnsafeRawBufferPointer?) -> [UInt8]? {
    var least = unsafe key.map { unsafe Array($0) }
    for delta in deltas where !delta.key.isEmpty {
      if least.map({ delta.key.lexicographicallyPrecedes($0) }) ?? true { least = delta.key }
    }
    return least
  }

  /// Each difference is from the copy after it.
  private func checkChain(_ newest: [UInt8]) throws(StorageError) {
    for (place, delta) in deltas.enumerated() {
      let next = place + 1 < deltas.count ? deltas[place + 1].value : newest
      guard delta.base == next else {
        throw StoreDelta.damaged(
          delta.path, "it is the difference from another backup than the next one that there is")
      }
    }
  }
}
