internal import Glibc

/// The process that took a cursor last. Only its lock shows whether it still holds the cursor.
package struct CursorHolder: Hashable, Sendable {
  package var processID: Int32
  /// In clock ticks since boot; 0 if unknown.
  package var startTime: UInt64
  package var name: String
  /// When it took the cursor, in microseconds since 1970.
  package var since: Int64

  package init(processID: Int32, startTime: UInt64, name: String, since: Int64) {
    self.processID = processID
    self.startTime = startTime
    self.name = name
    self.since = since
  }

  /// This process, now.
  static var own: CursorHolder {
    let status = ProcessStatus.own
    return CursorHolder(
      processID: getpid(), startTime: status?.startTime ?? 0, name: status?.name ?? "",
      since: CommitNote.now)
  }

  /// Whether the process is stopped, as by SIGSTOP or a debugger. False if it cannot be seen from
  /// here, and if another process has its number.
  package var isStopped: Bool {
    guard let status = ProcessStatus.of(processID) else { return false }
    return status.isStopped && (startTime == 0 || status.startTime == startTime)
  }

  /// "process 4711 (notes), since 2026-11-27T01:20:30Z"
  package var sentence: String {
    let process = SignalProcess(processID: processID, startTime: startTime)
    let who = process.name == nil && !name.isEmpty ? "\(process) (\(name))" : "\(process)"
    let (seconds, rest) = since.quotientAndRemainder(dividingBy: 1_000_000)
    let time = Timestamp(seconds: seconds, nanoseconds: Int32(rest * 1000))
    return "\(who), since \(time.iso8601)"
  }
}
