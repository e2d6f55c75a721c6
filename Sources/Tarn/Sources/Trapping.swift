import TarnStore

/// Runs engine work where the signature gives no way to report: what goes wrong there stops the
/// program with what is known about it.
@inline(__always)
func trapping<R>(_ body: () throws(StorageError) -> R) -> R {
  do {
    return try body()
  } catch {
    trap("Tarn cannot continue: \(error)")
  }
}
