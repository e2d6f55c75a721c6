internal import CLMDB
internal import CTarn
internal import Glibc

/// A new LMDB file that this process fills alone, in the order of the keys. LMDB appends, so pages
/// are full, and nothing is synced before the end.
///
/// It is filled in several transactions, because LMDB holds the pages of each in memory. Their
/// numbers, and the headers of incomplete states, do not remain: in the end both headers name the
/// complete tree, with the numbers N and N - 1.
///
/// Confined to one thread.
final class BulkFile {
  /// The bytes that a transaction collects.
  private let batchByteCount: Int
  /// The least address space to begin with.
  private static let roomMin = 64 << 20

  private let file: Int32
  private let path: String
  private let environment: LMDBHandle
  private var transaction: LMDBHandle?
  private var isOpen = true
  /// Bytes added since the last commit.
  private var pending = 0
  private(set) var entryCount = 0

  /// - Parameters:
  ///   - file: an empty file, open for reading and writing; the caller closes it.
  ///   - path: the path in errors.
  ///   - byteCount: the most bytes that the file can get.
  ///   - batchByteCount: the bytes that a transaction collects.
  init(
    _ file: Int32, path: String, roomFor byteCount: Int, batchByteCount: Int = 32 << 20
  ) throws(StorageError) {
    self.batchByteCount = batchByteCount
    self.file = file
    self.path = path
    let result = tarn_occupy_standard()
    if result != 0 { throw StorageError(errno: result, operation: "copy", path: path) }
    var room = max(Self.roomMin, 2 * byteCount)
    while true {
      let (result, handle) = Self.open(file, room)
      if let handle {
        environment = handle
        break
      }
      guard result == ENOMEM || result == EINVAL, room / 2 > byteCount else {
        throw StorageError(lmdb: result, operation: "copy", path: path)
      }
      room /= 2
    }
  }

  deinit { close() }

  private static func open(_ file: Int32, _ room: Int) -> (Int32, LMDBHandle?) {
    var created: OpaquePointer?
    var result = unsafe mdb_env_create(&created)
    guard result == 0, let raw = unsafe created else { return (result, nil) }
    unsafe mdb_env_set_mapsize(raw, (room + 65535) & ~65535)
    // Without a lock file: no other process can open it.
    let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC)
    result = unsafe mdb_env_open(raw, "/proc/self/fd/\(file)", flags, 0o600)
    guard result == 0 else {
      unsafe mdb_env_close(raw)
      return (result, nil)
    }
    var data: Int32 = -1
    unsafe mdb_env_get_fd(raw, &data)
    if data >= 0 { _ = fcntl(data, F_SETFD, fcntl(data, F_GETFD) | FD_CLOEXEC) }
    return unsafe (0, LMDBHandle(raw: raw))
  }

  /// Adds an entry behind all others.
  ///
  /// Errors: `.corrupted` if the key does not follow the last one, `.diskFull`, `.inputOutput`.
  func append(
    _ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let writing = try begin()
    var name = unsafe MDB_val(key)
    var data = unsafe MDB_val(value)
    let result = unsafe mdb_put(
      writing.raw, Environment.mainTree, &name, &data, UInt32(MDB_APPEND))
    if result == MDB_KEYEXIST {
      throw StorageError(
        .corrupted, operation: "copy", path: path,
        detail: "the file is damaged: its keys are out of order")
    }
    if result != 0 { throw error(result) }
    entryCount += 1
    pending += key.count + value.count
    if pending >= batchByteCount { try commit() }
  }

  private func begin() throws(StorageError) -> LMDBHandle {
    if let transaction { return transaction }
    var raw: OpaquePointer?
    let result = unsafe mdb_txn_begin(environment.raw, nil, 0, &raw)
    guard result == 0, let raw = unsafe raw else { throw error(result) }
    let handle = unsafe LMDBHandle(raw: raw)
    transaction = handle
    var tree: MDB_dbi = 0
    let opened = unsafe mdb_dbi_open(raw, nil, 0, &tree)
    if opened != 0 { throw error(opened) }
    require(tree == Environment.mainTree, "internal error: the main tree moved")
    return handle
  }

  private func commit() throws(StorageError) {
    guard let writing = transaction.take() else { return }
    pending = 0
    let result = unsafe mdb_txn_commit(writing.raw)
    if result != 0 { throw error(result) }
    FaultPoint.hit("copy.batch")
  }

  /// Completes the file and syncs it.
  ///
  /// - Parameter transactionID: the number N that LMDB continues after; nil for any.
  /// - Returns: the length of the file.
  func finish(transactionID: UInt64? = nil) throws(StorageError) -> Int {
    // An empty file gets its headers, too.
    _ = try begin()
    try commit()
    close()
    FaultPoint.hit("copy.filled")
    guard let header = try StoreHeader.read(descriptor: file, path: path) else {
      throw StorageError(errno: EIO, operation: "copy", path: path)
    }
    try writeHeaders(header, transactionID ?? max(1, header.transactionID))
    let result = tarn_extend(file, Int64(header.byteCount))
    if result != 0 { throw StorageError(errno: result, operation: "copy", path: path) }
    if fsync(file) != 0 { throw StorageError(errno: errno, operation: "copy", path: path) }
    FaultPoint.hit("copy.synced")
    return Int(header.byteCount)
  }

  private func close() {
    guard isOpen else { return }
    isOpen = false
    if let transaction { unsafe mdb_txn_abort(transaction.raw) }
    transaction = nil
    unsafe mdb_env_close(environment.raw)
  }

  /// LMDB reports a short write on a full disk as an input/output error.
  private func error(_ result: Int32) -> StorageError {
    var facts = statvfs()
    let isFull =
      unsafe result == EIO && fstatvfs(file, &facts) == 0
      && (facts.f_bavail < 64 || facts.f_favail == 0)
    let isLong = result == EIO && SizeLimit.isReached(by: file)
    return StorageError(
      lmdb: isFull ? ENOSPC : isLong ? EFBIG : result, operation: "copy", path: path)
  }

  // MARK: - Headers

  /// Both headers get the newest tree. The list of free pages is theirs, too, unless it names a
  /// transaction after N: then the few pages that it has remain unused.
  private func writeHeaders(
    _ header: StoreHeader, _ number: UInt64
  ) throws(StorageError) {
    let size = header.pageSize
    var page = [UInt8](repeating: 0, count: size)
    let count = unsafe page.withUnsafeMutableBytes {
      unsafe pread(file, $0.baseAddress, $0.count, off_t(Int(header.transactionID & 1) * size))
    }
    guard count == size else {
      throw StorageError(errno: count < 0 ? errno : EIO, operation: "copy", path: path)
    }
    if number < header.transactionID { StoreHeader.emptyFreeList(in: &page) }
    for index in 0..<UInt64(2) {
      let own = number & 1 == index ? number : number - 1
      StoreHeader.setNumbers(page: index, transactionID: own, in: &page)
      let written = unsafe page.withUnsafeBytes {
        unsafe pwrite(file, $0.baseAddress, $0.count, off_t(Int(index) * size))
      }
      guard written == size else {
        throw StorageError(
          errno: written < 0 ? errno : SizeLimit.reason(forShortWriteTo: file), operation: "copy",
          path: path)
      }
    }
  }
}

extension StoreHeader {
  /// Gives a header page its own number and that of its transaction.
  static func setNumbers(page: UInt64, transactionID: UInt64, in bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: page, toByteOffset: 0, as: UInt64.self)
      unsafe $0.storeBytes(of: transactionID, toByteOffset: 144, as: UInt64.self)
    }
  }

  /// Removes the list of free pages from a header page.
  static func emptyFreeList(in bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: 0, toByteOffset: 46, as: UInt16.self)
      for offset in stride(from: 48, to: 80, by: 8) {
        unsafe $0.storeBytes(of: 0, toByteOffset: offset, as: UInt64.self)
      }
      unsafe $0.storeBytes(of: noPage, toByteOffset: 80, as: UInt64.self)
    }
  }
}
