internal import CLMDB

/// The only code that maps LMDB's return values to errors for people. LMDB's own texts describe its
/// internals and are never shown.
extension StorageError {
  /// The error for a return value of LMDB, which includes system error numbers.
  init(lmdb result: Int32, operation: String, path: String) {
    let (code, detail): (Code, String)
    switch result {
    case MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_CURSOR_FULL, MDB_PAGE_FULL, MDB_INVALID:
      (code, detail) = (.corrupted, "the file's pages contradict each other")
    case MDB_VERSION_MISMATCH:
      (code, detail) = (.newerFormat, "the file was written by another version of its format")
    case MDB_PANIC:
      (code, detail) = (.failed, "an earlier failure closed this store; open it again")
    case MDB_MAP_FULL, MDB_MAP_RESIZED:
      (code, detail) = (
        .addressSpace, "the file needs more address space than this process has reserved for it"
      )
    case MDB_READERS_FULL:
      (code, detail) = (.readersFull, "too many versions are being read at once")
    case MDB_TXN_FULL:
      (code, detail) = (.limitExceeded, "the transaction changes too many pages")
    case MDB_BAD_VALSIZE:
      (code, detail) = (.invalidInput, "a key or a value has a length that the file cannot hold")
    case MDB_BAD_RSLOT, MDB_BAD_TXN, MDB_BAD_DBI, MDB_INCOMPATIBLE:
      (code, detail) = (.inputOutput, "the storage engine cannot continue after an earlier error")
    default:
      self.init(errno: result, operation: operation, path: path)
      return
    }
    self.init(code, operation: operation, path: path, detail: detail)
  }
}
