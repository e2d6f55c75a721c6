import Foundation
import TarnStore

/// The file descriptors that clients, outputs and stores leave to the rest of the daemon: without
/// any, it could neither deliver, nor note a position, nor answer an operator. Any thread.
enum DescriptorReserve {
  /// The users of descriptors. Each may take one only while enough are left for the others.
  enum Taker {
    /// A client that stays.
    case client
    /// A request, which does not stay: a few of the reserve are for them.
    case request
    /// An output: some of the reserve is for them.
    case output

    fileprivate var leaves: Int {
      switch self {
      case .client: DescriptorReserve.count
      case .request: DescriptorReserve.count * 3 / 4
      case .output: DescriptorReserve.count / 2
      }
    }
  }

  private static let count = 16
  /// How many a store takes, with all that is opened for it.
  private static let storeCount = 8
  /// How many stores are being opened: others must leave what these take.
  private static let promised = Lock(0)
  /// The log gets a line that often at most.
  private static let logEvery = Duration.seconds(60)
  private static let logged = Lock<ContinuousClock.Instant?>(nil)

  /// The reason to refuse a descriptor now; nil if one may be taken.
  static func refusal(_ taker: Taker) -> String? {
    guard let left, left < taker.leaves else { return nil }
    return lack
  }

  private static var lack: String {
    "the daemon has too few file descriptors left: raise its limit (LimitNOFILE= of its unit, or "
      + "ulimit -n), which is \(limit)"
  }

  /// Promises what a store takes, until `endPromise`, so that stores that are opened at the same
  /// time do not count on the same descriptors.
  ///
  /// - Returns: why it cannot be opened now; nil if it can.
  static func promiseStore() -> String? {
    promised.withLock { promised in
      if let left, left < count + (promised + 1) * storeCount { return lack }
      promised += 1
      return nil
    }
  }

  static func endPromise() { promised.withLock { $0 -= 1 } }

  /// Why a client cannot be served now; nil if it can. The log says so, but not of each client.
  static func refusal(ofClient log: DaemonLog, _ watch: String) -> String? {
    let refusal = refusal(.client)
    if let refusal { note("refuses clients: \(refusal)", log, watch) }
    return refusal
  }

  static func note(_ text: String, _ log: DaemonLog, _ watch: String) {
    let isNew = logged.withLock { logged in
      if let logged, .now - logged < logEvery { return false }
      logged = .now
      return true
    }
    if isNew { log.write(.error, text, [("TARN_WATCH", watch)]) }
  }

  private static var limit: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }

  /// How many this process may open; nil if the system does not show that.
  private static var left: Int? {
    let folder = "/proc/self/fd"
    var facts = stat()
    guard stat(folder, &facts) == 0 else { return nil }
    // Linux gives their number as the size since 6.2.
    if facts.st_size > 0 { return limit - Int(facts.st_size) }
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
    return names.map { limit - $0.count } ?? 0
  }
}
