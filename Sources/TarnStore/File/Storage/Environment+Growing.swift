internal import CLMDB
internal import CTarn
internal import Glibc

/// Reserves more address space for a file that outgrows its map. No transaction waits for it.
///
/// LMDB can enlarge an environment's map only while no transaction of it lives, and every open
/// Realm has one. So another environment with a larger map is opened in the same process, and later
/// transactions use it; live ones stay in the map that they know. LMDB warns against opening a file
/// twice in one process for three reasons, each of which is handled:
///
/// - Closing either drops the process's `fcntl` locks: the locks of `LockFile` belong to its own
///   descriptor.
/// - The first read of the second one locks the byte of the process's id, which would conflict with
///   the library's own lock there: the lock is lent for that moment (`LockFile.lendingReaders`).
/// - Closing one frees all slots of the process in the reader table: all are closed together, when
///   the last transaction has ended.
///
/// Everything else is as with two processes. It costs three descriptors and the address space of
/// the earlier maps. Because maps grow by a factor of four, it happens only a few times.
extension Environment {
  private static let factor = 4

  /// Bytes of address space of the newest map.
  package var mapByteCount: Int { state.withLock { $0.engine.mapByteCount } }

  /// Bytes of address space of all maps together.
  var takenByteCount: Int { state.withLock { $0.engines.reduce(0) { $0 + $1.mapByteCount } } }

  /// Reserves a larger map once the file fills half of the current one, so that a commit finds
  /// room. A failure is not yet an error: the map still has room.
  func growEarly() {
    let byteCount =
      options.writesThroughMap
      ? statistics.fileByteCount : knownByteCount.load(ordering: .relaxed)
    let outgrown = state.withLock { state -> Engine? in
      let engine = state.engine
      guard byteCount > engine.mapByteCount / 2, engine.mapByteCount < options.mapByteCount,
        byteCount / 9 * 8 >= state.grownInVainAt
      else { return nil }
      return engine
    }
    guard let outgrown else { return }
    do throws(StorageError) {
      try grow(beyond: outgrown, "write")
    } catch {
      state.withLock { $0.grownInVainAt = byteCount }
    }
  }

  /// The error for a commit or a file that does not fit the map. The map is larger afterwards if
  /// the process can reserve more.
  func fullMap(_ operation: String) -> StorageError {
    let engine = state.withLock { $0.engine }
    let full =
      "the file needs more than the \(engine.mapByteCount) bytes of address space that this "
      + "process has reserved for it; nothing was changed. "
    do throws(StorageError) {
      try grow(beyond: engine, operation)
      return error(
        .addressSpace, operation, full + "There are \(mapByteCount) bytes now: try again")
    } catch {
      return self.error(.addressSpace, operation, full + error.detail)
    }
  }

  /// Opens another engine, unless another thread has done so.
  ///
  /// Errors: `.addressSpace` at the largest size of a store, and if the process cannot reserve
  /// more; `.busy` if other processes take too long to open the store; those of opening.
  func grow(beyond outgrown: Engine, _ operation: String) throws(StorageError) {
    try succeed(outgrown, operation) { data throws(StorageError) in
      let smallest = max(Int(data.byteCount), outgrown.mapByteCount + 65536)
      guard smallest <= options.mapByteCount else {
        throw error(
          .addressSpace, "open",
          "A store can have \(options.mapByteCount) bytes at most. Delete some objects, and "
            + "compact the file")
      }
      let wanted = min(
        options.mapByteCount, Self.factor * max(Int(data.byteCount), outgrown.mapByteCount))
      return smallest...wanted
    }
  }

  /// How many engines a store may have. Each takes three descriptors.
  private static let enginesMax = 16

  /// Opens another engine in place of one in which LMDB refuses everything, because the disk failed
  /// while it wrote a header page.
  ///
  /// Errors: `.failed` if that has happened often; those of opening.
  func replace(_ broken: Engine, _ operation: String) throws(StorageError) {
    try succeed(broken, operation) { data throws(StorageError) in
      guard state.withLock({ $0.engines.count < Self.enginesMax }) else {
        throw error(
          .failed, operation,
          "the disk has failed too often: release every Realm, frozen object and cursor of the "
            + "file in this process, and open it again")
      }
      let byteCount = Int(data.byteCount)
      let wanted = max(options.budget.smallMapByteCount, Self.factor * byteCount)
      let smallest = max(1 << 20, byteCount)
      return smallest...max(smallest, min(options.mapByteCount, wanted))
    }
  }

  /// Opens another engine, unless another thread has done so.
  ///
  /// - Parameter size: the bytes of address space to reserve, at least and at most.
  private func succeed(
    _ former: Engine, _ operation: String,
    _ size: (FileFacts) throws(StorageError) -> ClosedRange<Int>
  ) throws(StorageError) {
    do throws(StorageError) {
      try EnvironmentRegistry.shared.whileNothingOpens { () throws(StorageError) in
        guard state.withLock({ $0.engine === former && !$0.isClosed }) else { return 0 }
        let engine = try openEngine(size)
        let pool = state.withLock { state in
          state.engines.append(engine)
          state.grownInVainAt = 0
          defer { state.pool = [] }
          return state.pool
        }
        for transaction in pool { unsafe mdb_txn_abort(transaction.raw) }
        return engine.mapByteCount
      }
      findMap()
    } catch {
      var error = error
      error.operation = operation
      throw error
    }
  }

  /// Finds the start of the newest map; the path to the last page was sound when the store was
  /// opened.
  private func findMap() {
    guard let view = try? beginRead() else { return }
    defer { view.end() }
    view.engine.findMap(by: view.handle, pageSize: pageSize)
  }

  private func openEngine(
    _ size: (FileFacts) throws(StorageError) -> ClosedRange<Int>
  ) throws(StorageError) -> Engine {
    if FileFacts.isLost(descriptor, of: dataIdentity) {
      throw error(.failed, "open", LostDescriptor.detail(descriptor))
    }
    if FileFacts.isLost(lockDescriptor, of: lockIdentity) {
      throw error(.failed, "open", LostDescriptor.detail(lockDescriptor))
    }
    let data = try FileFacts.known(of: descriptor, path, "open")
    let size = try size(data)
    let lock = LockFile(lockPath, borrowing: lockDescriptor)
    try lock.beginOpening(Deadline(after: .seconds(10)))
    defer { lock.endOpening() }
    let names = try PassingNames(data: descriptor, lock: lockDescriptor, for: path)
    let opening = EngineOpening(
      path: path, lockPath: lockPath, mode: data.mode, isWritable: isWritable, options: options)
    try opening.occupyStandardDescriptors()
    let (handle, mapByteCount) = try opening.open(
      at: names.dataPath, mapByteCount: size.upperBound, smallest: size.lowerBound)
    var isDone = false
    defer { if !isDone { unsafe mdb_env_close(handle.raw) } }
    let others = state.withLock { $0.engines.flatMap(\.descriptors.numbers) }
    let descriptors = try opening.findDescriptors(
      handle, dataIdentity, lockIdentity, besides: others + [lockDescriptor])
    opening.closeOnExec(handle)
    // After its first read, closing it would free the slots of the others: on failure it stays
    // open.
    isDone = true
    try lock.lendingReaders { () throws(StorageError) in try opening.tryReading(handle) }
    return Engine(
      handle: handle, descriptors: descriptors, mapByteCount: mapByteCount, options: options)
  }
}
