internal import CTarn
internal import Glibc

extension WriteGate {
  /// The holder of the write lock, for people.
  package struct Holder: Hashable, Sendable, CustomStringConvertible {
    package let process: SignalProcess
    package let heldFor: Duration

    /// "process 4711 (notes) has been writing for 2.5 seconds and is stopped"
    package var description: String {
      let tenths = Int64((heldFor / .milliseconds(100)).rounded(.down))
      let state = process.isStopped ? " and is stopped" : ""
      return "\(process) has been writing for "
        + "\(tenths / 10).\(tenths % 10) seconds\(state)"
    }
  }
}

extension WriteGate {
  /// The error of a writer whose timeout passed.
  package func busy() -> StorageError {
    let holder = holder.map { "; \($0)" } ?? ""
    return StorageError(
      .busy, operation: "write", path: file.path,
      detail: "the write lock was not free in time\(holder). Nothing was written.")
  }
}
