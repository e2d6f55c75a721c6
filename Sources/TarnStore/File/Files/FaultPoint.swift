internal import CTarn
internal import Glibc

/// Numbered points at which a test process can be made to die or stop, so that a test covers each
/// of them and does not depend on luck.
///
/// Only test programs arm them, by calling `armFromEnvironment`. The library itself does not read
/// these variables, because any user who starts a program can set them:
/// - `TARN_FAULT_COUNT=<file>`: each hit appends a line `<number> <name>` to the file.
/// - `TARN_FAULT=<number>` or `<name>` or `<name>:<occurrence>`: at that hit the process sends
///   itself SIGKILL, or SIGSTOP if `TARN_FAULT_SIGNAL=stop`.
///
/// If neither is set, a hit costs the load of one flag.
package enum FaultPoint {
  @inline(__always)
  package static func hit(_ name: StaticString) {
    if tarn_faults_armed() { plan.hit(name.description) }
  }

  /// Reads the variables, once.
  package static func armFromEnvironment() { _ = armed }

  private static let armed: Bool = {
    guard plan.isWanted else { return false }
    tarn_arm_faults()
    return true
  }()

  private static let plan = FaultPlan(
    target: variable("TARN_FAULT"), countFile: variable("TARN_FAULT_COUNT"),
    signal: variable("TARN_FAULT_SIGNAL") == "stop" ? SIGSTOP : SIGKILL)

  private static func variable(_ name: String) -> String? {
    unsafe tarn_trusted_variable(name).map { unsafe String(cString: $0) }
  }
}

/// The actions of one process at its fault points.
final class FaultPlan: Sendable {
  private struct Counts {
    var all = 0
    var byName: [String: Int] = [:]
  }

  private let number: Int?
  private let name: String?
  private let occurrence: Int
  private let countFile: String?
  private let signal: Int32
  private let counts = Lock(Counts())

  var isWanted: Bool { number != nil || name != nil || countFile != nil }

  init(target: String?, countFile: String?, signal: Int32) {
    let parts = (target ?? "").splitASCII(":").map(String.init)
    number = parts.first.flatMap { Int($0) }
    name = number == nil ? parts.first : nil
    occurrence = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
    self.countFile = countFile
    self.signal = signal
  }

  func hit(_ hitName: String) {
    let (all, same) = counts.withLock { counts in
      counts.all += 1
      counts.byName[hitName, default: 0] += 1
      return (counts.all, counts.byName[hitName, default: 0])
    }
    if let countFile { append("\(all) \(hitName)\n", to: countFile) }
    if isTarget(number: all, name: hitName, occurrence: same) { raise(signal) }
  }

  func isTarget(number: Int, name: String, occurrence: Int) -> Bool {
    if let wanted = self.number { return wanted == number }
    return self.name == name && self.occurrence == occurrence
  }

  private func append(_ line: String, to path: String) {
    let fd = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard fd >= 0 else { return }
    let bytes = Array(line.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(fd, $0.baseAddress, $0.count) }
    close(fd)
  }
}
