internal import CLMDB
internal import CTarn
internal import Glibc
import Synchronization

/// LMDB's environment for a store's file: its map of the file, and the descriptors that it writes
/// and locks with.
///
/// A store has one. If the file outgrows the map, another engine with a larger map is added, and
/// the earlier ones stay until the store is closed (`Environment+Growing`).
final class Engine: Sendable {
  let handle: LMDBHandle
  let descriptors: EngineDescriptors
  /// Bytes of address space reserved for the file.
  let mapByteCount: Int
  /// The start of the map; 0 while unknown, because LMDB does not report it.
  let mapStart = Atomic<UInt>(0)
  /// LMDB's flags for syncs.
  private let syncFlags: Atomic<UInt32>
  private let writesThroughMap: Bool

  init(
    handle: LMDBHandle, descriptors: EngineDescriptors, mapByteCount: Int,
    options: EnvironmentOptions
  ) {
    self.handle = handle
    self.descriptors = descriptors
    self.mapByteCount = mapByteCount
    writesThroughMap = options.writesThroughMap
    syncFlags = Atomic(Self.flags(for: options.durability))
  }

  static func flags(for options: EnvironmentOptions) -> UInt32 {
    // Nothing is behind memory to which it could be synced.
    if options.writesThroughMap { return UInt32(MDB_WRITEMAP | MDB_NOSYNC) }
    return flags(for: options.durability)
  }

  private static func flags(for durability: EnvironmentOptions.Durability) -> UInt32 {
    switch durability {
    case .full: 0
    case .consistent: UInt32(MDB_NOMETASYNC)
    case .relaxed: UInt32(MDB_NOSYNC)
    }
  }

  /// Sets what the commit waits for. Only within a write transaction, so by one thread at a time:
  /// LMDB 0.9 has these flags for an environment, not for a transaction.
  func setDurability(_ durability: EnvironmentOptions.Durability) {
    if writesThroughMap { return }
    let flags = Self.flags(for: durability)
    let former = syncFlags.load(ordering: .relaxed)
    if former == flags { return }
    syncFlags.store(flags, ordering: .relaxed)
    if former != 0 { unsafe mdb_env_set_flags(handle.raw, former, 0) }
    if flags != 0 { unsafe mdb_env_set_flags(handle.raw, flags, 1) }
  }

  /// Finds the start of the map: a page of the tree contains its own number. Only for a view whose
  /// last page is known to be sound. Does nothing in an empty tree.
  ///
  /// The kernel's list of the process's mappings has it as well, but grows with the number of open
  /// stores.
  func findMap(by transaction: LMDBHandle, pageSize: Int) {
    guard mapStart.load(ordering: .relaxed) == 0 else { return }
    var cursor: OpaquePointer?
    guard unsafe mdb_cursor_open(transaction.raw, Environment.mainTree, &cursor) == 0 else {
      return
    }
    defer { unsafe mdb_cursor_close(cursor) }
    var key = unsafe MDB_val()
    var value = unsafe MDB_val()
    // Keys are in the page of their node, wherever the values are.
    guard unsafe mdb_cursor_get(cursor, &key, &value, MDB_LAST) == 0,
      let page = unsafe UnsafeRawPointer(
        bitPattern: UInt(bitPattern: key.mv_data) & ~UInt(pageSize - 1))
    else { return }
    let number = unsafe page.load(as: UInt.self)
    let start = UInt(bitPattern: page) &- number &* UInt(pageSize)
    guard number < UInt(mapByteCount / pageSize) else { return }
    mapStart.store(start, ordering: .relaxed)
  }
}

/// How a file is passed to LMDB.
struct EngineOpening {
  /// The path in errors.
  let path: String
  let lockPath: String
  let mode: mode_t
  let isWritable: Bool
  let options: EnvironmentOptions

  /// LMDB: `mdb_env_open`. Retries if the first opener was killed midway; uses less address space
  /// if the process cannot reserve that much.
  ///
  /// - Parameter smallest: the least address space that is still useful.
  func open(
    at dataPath: String, mapByteCount wanted: Int, smallest: Int
  ) throws(StorageError) -> (LMDBHandle, mapByteCount: Int) {
    var mapByteCount = max(wanted, smallest)
    var attempts = 0
    while true {
      let (result, handle) = openOnce(mapByteCount, dataPath)
      if let handle { return (handle, mapByteCount) }
      switch result {
      case ENOMEM where mapByteCount / 2 >= smallest:
        mapByteCount /= 2
      case EINVAL where attempts < 20, MDB_INVALID where attempts < 20,
        EAGAIN where attempts < 20:
        attempts += 1
        usleep(UInt32(500 * attempts))
      // Not of LMDB's lock file, then: valgrind and some kernels refuse large maps so.
      case EINVAL where mapByteCount / 2 >= smallest:
        mapByteCount /= 2
      default:
        throw StorageError(lmdb: result, operation: "open", path: path)
      }
    }
  }

  private func openOnce(_ mapByteCount: Int, _ dataPath: String) -> (Int32, LMDBHandle?) {
    var created: OpaquePointer?
    var result = unsafe mdb_env_create(&created)
    guard result == 0, let raw = unsafe created else { return (result, nil) }
    unsafe mdb_env_set_mapsize(raw, mapByteCount)
    unsafe mdb_env_set_maxreaders(raw, UInt32(options.readerCount))
    var flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS) | Engine.flags(for: options)
    if !isWritable { flags |= UInt32(MDB_RDONLY) }
    result = unsafe dataPath.withPath { unsafe mdb_env_open(raw, $0, flags, mode) }
    if result == 0 { return unsafe (0, LMDBHandle(raw: raw)) }
    // "If this function fails, mdb_env_close() must be called to discard the handle."
    unsafe mdb_env_close(raw)
    return (result, nil)
  }

  /// LMDB opens files itself, and must not get a standard descriptor's number.
  func occupyStandardDescriptors() throws(StorageError) {
    let result = tarn_occupy_standard()
    guard result == 0 else {
      var error = StorageError(errno: result, operation: "open", path: path)
      error.detail = "a standard descriptor is closed, and /dev/null cannot be opened in its place"
      throw error
    }
  }

  /// - Parameter others: the descriptors of the same files that are not this handle's.
  func findDescriptors(
    _ handle: LMDBHandle, _ data: FileIdentity, _ lock: FileIdentity, besides others: [Int32]
  ) throws(StorageError) -> EngineDescriptors {
    let found = EngineDescriptors.find(
      handle, data, lock, hasHeaders: isWritable && !options.writesThroughMap, besides: others)
    guard let found else {
      throw StorageError(
        .inputOutput, operation: "open", path: path,
        detail: "the descriptors that were just opened are closed; does another "
          + "thread close descriptors that it did not open?")
    }
    return found
  }

  /// The first read transaction sets the tree's key order permanently (the only shared state that a
  /// read would write), and shows whether this process can get a slot in the reader table.
  func tryReading(_ handle: LMDBHandle) throws(StorageError) {
    var transaction: OpaquePointer?
    var result = unsafe mdb_txn_begin(handle.raw, nil, UInt32(MDB_RDONLY), &transaction)
    if result == EAGAIN || result == EACCES { throw LockFile.sameProcessID(path) }
    if result == MDB_READERS_FULL {
      throw ReaderTable.full(handle, lockPath, operation: "open", path: path)
    }
    guard result == 0 else { throw StorageError(lmdb: result, operation: "open", path: path) }
    defer { unsafe mdb_txn_abort(transaction) }
    var tree: MDB_dbi = 0
    result = unsafe mdb_dbi_open(transaction, nil, 0, &tree)
    guard result == 0 else { throw StorageError(lmdb: result, operation: "open", path: path) }
    require(tree == Environment.mainTree, "internal error: the main tree moved")
  }

  /// A program that this process starts must not inherit the files. LMDB 0.9 ensures that for its
  /// other two descriptors. LMDB: `mdb_env_get_fd`.
  func closeOnExec(_ handle: LMDBHandle) {
    var raw: Int32 = -1
    unsafe mdb_env_get_fd(handle.raw, &raw)
    if raw >= 0 { _ = fcntl(raw, F_SETFD, fcntl(raw, F_GETFD) | FD_CLOEXEC) }
  }
}
