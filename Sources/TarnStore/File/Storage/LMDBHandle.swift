/// A pointer to an LMDB object.
@safe struct LMDBHandle: @unchecked Sendable {
  // because: the environment is thread safe, a read transaction opened with MDB_NOTLS is not bound
  // to a thread, and write transactions never leave their call.
  let raw: OpaquePointer
}
