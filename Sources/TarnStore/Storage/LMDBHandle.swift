/// A pointer of LMDB's.
@safe struct LMDBHandle: @unchecked Sendable {
  // because: the environment is thread safe, and a read transaction opened with MDB_NOTLS belongs
  // to whoever holds it; write transactions never leave their call.
  let raw: OpaquePointer
}
