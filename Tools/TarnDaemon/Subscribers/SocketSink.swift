import Dispatch
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// Listens on a Unix socket: each client writes one line of JSON, and then gets lines.
///
///     {}                              everything, then each change
///     {"from":"POSITION"}             what happened since a position
///     {"from":{"FILE":"POSITION"}}    the same in several files
///
/// Threading: everything is on the hub's queue.
final class SocketSink: Sendable {
  private let hub: FeedHub
  private let settings: SocketSettings
  private let listener: ListeningSocket
  // because: set once, and cancelled once.
  private nonisolated(unsafe) let source: any DispatchSourceRead
  /// Until the socket is gone.
  private let life = DispatchGroup()

  init(_ settings: SocketSettings, _ hub: FeedHub, _ listener: ListeningSocket) {
    self.settings = settings
    self.hub = hub
    self.listener = listener
    source = DispatchSource.makeReadSource(fileDescriptor: listener.descriptor, queue: hub.queue)
    source.setEventHandler { [listener, hub, settings] in
      while let descriptor = listener.accept() {
        SocketClient(descriptor, hub, settings).start()
      }
    }
    life.enter()
    source.setCancelHandler { [listener, life] in
      listener.end()
      life.leave()
    }
    source.resume()
  }

  deinit { source.cancel() }

  /// Its path is free when this returns. Not on the hub's queue.
  func stop() {
    source.cancel()
    life.wait()
  }
}
