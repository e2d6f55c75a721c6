import Foundation
import TarnStore

/// What is known of a sink of one file. Any thread.
final class SinkStatus: Sendable {
  struct Content: Sendable {
    /// The version up to which the receiver has everything; of clients, the slowest one's.
    var version: UInt64 = 0
    /// Since when it is behind, as seconds since 1970; nil if it is not.
    var behindSince: Double?
    var delivered: UInt64 = 0
    var retried: UInt64 = 0
    var startedAnew: UInt64 = 0
    var dropped: UInt64 = 0
    var clients = 0
    var lastError: String?
    var lastErrorAt: Double?
    /// True while the last delivery failed.
    var isFailing = false
  }

  let watch: String
  let sink: String
  let path: String
  private let state = Lock(Content())

  init(_ watch: String, _ sink: String, _ path: String) {
    self.watch = watch
    self.sink = sink
    self.path = path
  }

  var content: Content { state.withLock { $0 } }

  func update(_ change: (inout Content) -> Void) { state.withLock { change(&$0) } }

  func delivered(upTo version: UInt64, isNewBeginning: Bool) {
    update { content in
      content.version = version
      content.delivered += 1
      if isNewBeginning { content.startedAnew += 1 }
      content.isFailing = false
      content.behindSince = nil
    }
  }

  func failed(_ reason: String) {
    update { content in
      content.retried += 1
      content.lastError = reason
      content.lastErrorAt = Date().timeIntervalSince1970
      content.isFailing = true
    }
  }

  func isBehind() {
    update { if $0.behindSince == nil { $0.behindSince = Date().timeIntervalSince1970 } }
  }

  func isCurrent(at version: UInt64) {
    update {
      $0.version = version
      $0.behindSince = nil
    }
  }
}
