import TarnStore

/// Runs engine work in a function that cannot throw: an error stops the program with a message that
/// has all known facts about it.
@inline(__always)
func trapping<R>(_ body: () throws(StorageError) -> R) -> R {
  do {
    return try body()
  } catch {
    trap("Tarn cannot continue: \(error)")
  }
}
