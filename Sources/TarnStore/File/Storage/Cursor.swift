internal import CLMDB
internal import Glibc

/// A position in the file's order of keys. Confined to one thread.
///
/// Each move checks that the key found is in order. So every loop over a cursor ends, even in a
/// damaged tree with a page that points back to itself.
///
/// In a forked child every move throws `.forked`.
///
/// `key` and `value` are valid after a move that returned true: as long as the read transaction, or
/// until the write transaction's next change. After such a change seek again.
///
/// LMDB: `mdb_cursor_open`, `mdb_cursor_get`, `mdb_cursor_renew`, `mdb_cursor_close`.
@safe package struct Cursor: ~Copyable {
  private let handle: LMDBHandle
  let environment: Environment
  private var engine: Engine
  /// Keeps the view of a reading cursor alive.
  private var reading: ReadTransaction?
  /// Whether LMDB has closed the cursor of a write.
  private let life: WriteLife?
  /// The write's number of changes at the last move; after further changes the key is invalid.
  private var changeCount = 0
  package private(set) var key: UnsafeRawBufferPointer
  package private(set) var value: UnsafeRawBufferPointer

  package init(_ transaction: ReadTransaction) throws(StorageError) {
    handle = try Self.open(transaction.handle, transaction.environment)
    environment = transaction.environment
    engine = transaction.engine
    reading = transaction
    life = nil
    unsafe key = UnsafeRawBufferPointer(start: nil, count: 0)
    unsafe value = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// A cursor of a write must not be used after the write's body returned.
  package init(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    handle = try Self.open(transaction.handle, transaction.environment)
    environment = transaction.environment
    engine = transaction.engine
    reading = nil
    life = transaction.life
    unsafe key = UnsafeRawBufferPointer(start: nil, count: 0)
    unsafe value = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private static func open(
    _ transaction: LMDBHandle, _ environment: Environment
  ) throws(StorageError) -> LMDBHandle {
    var raw: OpaquePointer?
    let result = unsafe mdb_cursor_open(transaction.raw, Environment.mainTree, &raw)
    guard result == 0, let raw = unsafe raw else { throw environment.error(result, "read") }
    return unsafe LMDBHandle(raw: raw)
  }

  deinit {
    // "A cursor in a write-transaction … will otherwise be closed when its transaction ends."
    if life?.isOver != true { unsafe mdb_cursor_close(handle.raw) }
  }

  /// Moves to the first key that is not less than the given one; false without one.
  package mutating func seek(
    atOrAfter wanted: UnsafeRawBufferPointer
  ) throws(StorageError) -> Bool {
    guard unsafe try move(MDB_SET_RANGE, unsafe MDB_val(wanted)) else { return false }
    if unsafe Self.order(key, wanted) < 0 { throw disorder }
    return true
  }

  /// Moves to the last key that is not greater than the given one; false without one.
  package mutating func seek(
    atOrBefore wanted: UnsafeRawBufferPointer
  ) throws(StorageError) -> Bool {
    guard unsafe try seek(atOrAfter: wanted) else { return try last() }
    if unsafe Self.order(key, wanted) == 0 { return true }
    guard try previous() else { return false }
    if unsafe Self.order(key, wanted) > 0 { throw disorder }
    return true
  }

  package mutating func first() throws(StorageError) -> Bool {
    unsafe try move(MDB_FIRST, unsafe MDB_val())
  }

  package mutating func last() throws(StorageError) -> Bool {
    unsafe try move(MDB_LAST, unsafe MDB_val())
  }

  /// Moves forward by one, or to the first key if the cursor has no position. False at the end; the
  /// cursor then stays where it was.
  package mutating func next() throws(StorageError) -> Bool {
    let before = unsafe lastKey
    guard unsafe try move(MDB_NEXT, unsafe MDB_val()) else { return false }
    if unsafe before.count > 0 && Self.order(before, key) >= 0 { throw disorder }
    return true
  }

  /// Moves back by one, or to the last key if the cursor has no position.
  package mutating func previous() throws(StorageError) -> Bool {
    let before = unsafe lastKey
    guard unsafe try move(MDB_PREV, unsafe MDB_val()) else { return false }
    if unsafe before.count > 0 && Self.order(before, key) <= 0 { throw disorder }
    return true
  }

  /// The key of the last move; empty before the first move, or if it is no longer valid.
  private var lastKey: UnsafeRawBufferPointer {
    changeCount == (life?.changeCount ?? 0)
      ? unsafe key : unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Negative if `a` comes before `b` in LMDB's order.
  private static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    guard let first = a.baseAddress, let second = b.baseAddress else { return a.count - b.count }
    let result = unsafe memcmp(first, second, min(a.count, b.count))
    return result != 0 ? Int(result) : a.count - b.count
  }

  private var disorder: StorageError { environment.disorder("read") }

  /// Moves the cursor to another read transaction of the same file, at a third of the cost of a new
  /// cursor. It then has no position. Traps for a cursor of a write.
  package mutating func renew(_ transaction: ReadTransaction) throws(StorageError) {
    require(life == nil, "only a cursor that reads can be renewed")
    require(transaction.environment === environment, "the transaction belongs to another file")
    let result = unsafe mdb_cursor_renew(transaction.handle.raw, handle.raw)
    if result != 0 { throw environment.error(result, "read") }
    engine = transaction.engine
    reading = transaction
    unsafe key = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @inline(__always)
  private mutating func move(
    _ operation: MDB_cursor_op, _ wanted: MDB_val
  ) throws(StorageError) -> Bool {
    assert(life?.isOver != true, "the write transaction has ended")
    if environment.isForked { throw environment.forked("read") }
    var foundKey = unsafe wanted
    var foundValue = unsafe MDB_val()
    let result = unsafe mdb_cursor_get(handle.raw, &foundKey, &foundValue, operation)
    guard result == 0 else {
      if result == MDB_NOTFOUND { return false }
      throw environment.error(result, "read")
    }
    guard let life else {
      unsafe key = try environment.bounded(foundKey, by: engine)
      unsafe value = try environment.bounded(foundValue, by: engine)
      return true
    }
    changeCount = life.changeCount
    unsafe key = try environment.boundedOrOwn(foundKey, by: engine)
    unsafe value = try environment.boundedOrOwn(foundValue, by: engine)
    return true
  }
}

extension Environment {
  /// The error for a search in a tree whose keys are not ascending.
  func disorder(_ operation: String) -> StorageError {
    error(.corrupted, operation, "the file is damaged: its keys are out of order")
  }
}
