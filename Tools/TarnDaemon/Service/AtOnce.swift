import Dispatch

/// Work that may be held up, each part by something else.
enum AtOnce {
  /// Runs all parts at the same time, however many of them wait.
  ///
  /// - Returns: false if some have not ended in time, and go on.
  @discardableResult
  static func run(
    _ parts: [@Sendable () -> Void], within time: DispatchTimeInterval = .never
  ) -> Bool {
    let queue = DispatchQueue(label: "tarn-at-once", attributes: .concurrent)
    let group = DispatchGroup()
    for part in parts { queue.async(group: group, execute: part) }
    return group.wait(timeout: .now() + time) == .success
  }
}
