import Foundation
import Tarn
import TarnStore

/// What is known of a sink of one file. Any thread.
final class SinkStatus: Sendable {
  struct Content: Sendable {
    /// The version up to which the receiver has everything; of clients, the slowest one's.
    var version: UInt64 = 0
    /// Since when it is behind, as seconds since 1970; nil if it is not.
    var behindSince: Double?
    var delivered: UInt64 = 0
    /// How long the receiver took for these, and for the last one.
    var deliverySeconds = 0.0
    var lastDeliverySeconds: Double?
    /// The missing class that the sink waits for; nil if all are there.
    var waiting: String?
    /// Whether an operator has paused it.
    var isPaused = false
    /// Batches that an operator has dropped.
    var skipped: UInt64 = 0
    /// Objects that the receiver has refused, and that are in the file for them.
    var deadLetters: UInt64 = 0
    var retried: UInt64 = 0
    var startedAnew: UInt64 = 0
    var dropped: UInt64 = 0
    var clients = 0
    var lastError: String?
    var lastErrorAt: Double?
    /// Since when every delivery has failed, as seconds since 1970; nil if the last one did not.
    var failingSince: Double?

    var isFailing: Bool { failingSince != nil }
  }

  let watch: String
  let sink: String
  let path: String
  private let state = Lock(Content())
  private let following = Lock<FeedRegistration?>(nil)

  init(_ watch: String, _ sink: String, _ path: String) {
    self.watch = watch
    self.sink = sink
    self.path = path
  }

  var content: Content {
    var content = state.withLock { $0 }
    // A sink that no commit has concerned since then has not been told of them.
    if content.behindSince == nil, let version = following.withLock({ $0 })?.restsThrough {
      content.version = max(content.version, version)
    }
    return content
  }

  /// What wakes the sink; nil if it looks at each commit.
  func follows(_ registration: FeedRegistration?) { following.withLock { $0 = registration } }

  func update(_ change: (inout Content) -> Void) { state.withLock { change(&$0) } }

  func delivered(upTo version: UInt64, isNewBeginning: Bool, seconds: Double = 0) {
    update { content in
      content.deliverySeconds += seconds
      content.lastDeliverySeconds = seconds
      content.version = version
      content.delivered += 1
      if isNewBeginning { content.startedAnew += 1 }
      content.failingSince = nil
      content.behindSince = nil
    }
  }

  func failed(_ reason: String) {
    update { content in
      content.retried += 1
      content.lastError = reason
      let now = Date().timeIntervalSince1970
      content.lastErrorAt = now
      content.failingSince = content.failingSince ?? now
    }
  }

  /// Notes the missing class that the sink waits for, which is not a failure; nil for none.
  ///
  /// - Returns: whether that is news.
  func waits(for waiting: String?) -> Bool {
    state.withLock { content in
      defer { content.waiting = waiting }
      return content.waiting != waiting
    }
  }

  /// - Parameter version: the version up to which the receiver has everything, if it is known; 0 if
  ///   all objects are sent to it.
  func isBehind(from version: UInt64? = nil) {
    update { content in
      if let version { content.version = version }
      if content.behindSince == nil { content.behindSince = Date().timeIntervalSince1970 }
    }
  }

  func isCurrent(at version: UInt64) {
    update {
      $0.version = version
      $0.behindSince = nil
      $0.failingSince = nil
    }
  }
}
