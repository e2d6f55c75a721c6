extension WriteGate {
  /// Runs `body` with the gate held, for commits of our own.
  func holding<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    let token = try acquire()
    let result: R
    do {
      result = try body()
    } catch {
      release(token)
      throw error
    }
    release(token)
    return result
  }
}
