extension WriteGate {
  /// Runs `body` with the gate held, for commits of our own.
  func holding<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    let token = try acquire()
    let result = try body()
    token.release()
    return result
  }
}
