internal import CLMDB
internal import CTarn
internal import Glibc

/// More address space for a file that outgrows its map. No transaction waits for it.
///
/// LMDB can give an environment a larger map only while no transaction of it lives, and every open
/// Realm has one. So a further environment is opened in the same process, with a larger map, and
/// later transactions go through it; those that live stay as they are, in the map that they know.
/// LMDB warns of a second opening in one process for three reasons, each of which is met:
///
/// - Closing either drops the process's `fcntl` locks: the locks of `LockFile` are its own.
/// - The first read of the second one locks the byte of the process's id, which would fail on the
///   library's own lock there: it is lent for that moment (`LockFile.lendingReaders`).
/// - Closing one frees all slots of the process in the table of readers: all are closed together,
///   when the last transaction has ended.
///
/// Everything else is as with two processes. It costs three descriptors and the address space of
/// the maps before, and as maps grow by the factor four, a few times at most.
extension Environment {
  private static let factor = 4

  /// Bytes of address space that the file has in the newest map.
  package var mapByteCount: Int { state.withLock { $0.engine.mapByteCount } }

  /// The same in all maps together.
  var takenByteCount: Int { state.withLock { $0.engines.reduce(0) { $0 + $1.mapByteCount } } }

  /// Takes a larger map once the file fills half of the one there is, so that a commit finds room.
  /// A failure is not an error yet: the map still has room.
  func growEarly() {
    let byteCount = knownByteCount.load(ordering: .relaxed)
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

  /// The error for a commit or a file that finds no room in the map, which is larger afterwards if
  /// the process may have that.
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

  /// Opens a further engine, unless another thread has done so.
  ///
  /// Errors: `.addressSpace` at the largest size that a store can have, and where the process may
  /// not have more; `.busy` if other processes take too long to open the store; as opening.
  func grow(beyond outgrown: Engine, _ operation: String) throws(StorageError) {
    do throws(StorageError) {
      try EnvironmentRegistry.shared.whileNothingOpens { () throws(StorageError) in
        guard state.withLock({ $0.engine === outgrown && !$0.isClosed }) else { return 0 }
        let engine = try openEngine(largerThan: outgrown)
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

  /// Where the newest map begins; the path to the last page was sound when the store was opened.
  private func findMap() {
    guard let view = try? beginRead() else { return }
    defer { view.end() }
    view.engine.findMap(by: view.handle, pageSize: pageSize)
  }

  private func openEngine(largerThan outgrown: Engine) throws(StorageError) -> Engine {
    guard let data = FileFacts.of(descriptor: descriptor), data.identity == dataIdentity else {
      throw error(.failed, "open", LostDescriptor.detail(descriptor))
    }
    guard FileFacts.of(descriptor: lockDescriptor)?.identity == lockIdentity else {
      throw error(.failed, "open", LostDescriptor.detail(lockDescriptor))
    }
    let smallest = max(Int(data.byteCount), outgrown.mapByteCount + 65536)
    guard smallest <= options.mapByteCount else {
      throw error(
        .addressSpace, "open",
        "A store can have \(options.mapByteCount) bytes at most. Delete some objects, and "
          + "compact the file")
    }
    let wanted = min(
      options.mapByteCount, Self.factor * max(Int(data.byteCount), outgrown.mapByteCount))
    let lock = LockFile(lockPath, borrowing: lockDescriptor)
    try lock.beginOpening(Deadline(after: .seconds(10)))
    defer { lock.endOpening() }
    let names = try PassingNames(data: descriptor, lock: lockDescriptor, for: path)
    let opening = EngineOpening(
      path: path, lockPath: lockPath, mode: data.mode, isWritable: isWritable, options: options)
    let expected = try opening.occupyStandardDescriptors(descriptor)
    let (handle, mapByteCount) = try opening.open(
      at: names.dataPath, mapByteCount: wanted, smallest: smallest)
    var isDone = false
    defer { if !isDone { unsafe mdb_env_close(handle.raw) } }
    let descriptors = try opening.findDescriptors(
      handle, dataIdentity, lockIdentity, expected, ours: lockDescriptor)
    opening.closeOnExec(handle)
    // Once it has read, closing it frees the slots of the others: it rather stays if that fails.
    isDone = true
    try lock.lendingReaders { () throws(StorageError) in try opening.tryReading(handle) }
    return Engine(handle: handle, descriptors: descriptors, mapByteCount: mapByteCount)
  }
}
