internal import CTarn
internal import Glibc

extension WriteGate {
  /// Who holds the gate, for people.
  package struct Holder: Hashable, Sendable, CustomStringConvertible {
    package let process: SignalProcess
    package let heldFor: Duration

    /// "process 4711 (notes) has been writing for 2.5 seconds and is stopped"
    package var description: String {
      let name = process.name.map { " (\($0))" } ?? ""
      let tenths = Int64((heldFor / .milliseconds(100)).rounded(.down))
      let state = process.isStopped ? " and is stopped" : ""
      return "process \(process.processID)\(name) has been writing for "
        + "\(tenths / 10).\(tenths % 10) seconds\(state)"
    }
  }
}

extension WriteGate {
  /// The error of a writer whose turn did not come in time.
  package func busy() -> StorageError {
    let holder = holder.map { "; \($0)" } ?? ""
    return StorageError(
      .busy, operation: "write", path: file.path,
      detail: "the turn to write did not come in time\(holder). Nothing was written.")
  }
}

extension SignalProcess {
  /// As the system's tools show it; nil if it cannot be found out, or the id is another one's now.
  package var name: String? { fact(.name) }

  /// It was stopped by a signal or a debugger, and goes on when somebody tells it to.
  package var isStopped: Bool { fact(.state).map { $0 == "T" || $0 == "t" } ?? false }

  private enum Fact { case name, state }

  /// A fact from `/proc/ID/stat`: id, the name in brackets, one letter for the state.
  private func fact(_ fact: Fact) -> String? {
    let file = unsafe open("/proc/\(processID)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(file, &bytes, bytes.count)
    guard count > 0, let open = bytes.firstIndex(of: UInt8(ascii: "(")),
      let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), open < end, end + 2 < count
    else { return nil }
    switch fact {
    case .name: return String(decoding: bytes[(open + 1)..<end], as: UTF8.self)
    case .state: return String(decoding: bytes[(end + 2)...(end + 2)], as: UTF8.self)
    }
  }
}
