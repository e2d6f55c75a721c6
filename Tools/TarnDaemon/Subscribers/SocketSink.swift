import CDaemon
import Dispatch
import Foundation
import Tarn
import TarnStore
import TarnText
import ToolSupport

/// Listens on a Unix socket: each client writes one line of JSON, and then gets lines.
///
///     {}                              everything, then each change
///     {"from":"POSITION"}             what happened since a position
///     {"from":{"FILE":"POSITION"}}    the same in several files
///
/// Threading: everything is on the hub's queue.
final class SocketSink: Sendable {
  /// How long clients wait if none can be accepted.
  private static let pause = DispatchTimeInterval.milliseconds(250)

  private let hub: FeedHub
  private let settings: SocketSettings
  private let listener: ListeningSocket
  private let log: DaemonLog
  // because: set once, and cancelled once.
  private nonisolated(unsafe) let source: any DispatchSourceRead
  /// Until the socket is gone.
  private let life = DispatchGroup()

  init(_ settings: SocketSettings, _ hub: FeedHub, _ listener: ListeningSocket, _ log: DaemonLog) {
    self.settings = settings
    self.hub = hub
    self.listener = listener
    self.log = log
    source = DispatchSource.makeReadSource(fileDescriptor: listener.descriptor, queue: hub.queue)
    source.setEventHandler { [weak self] in self?.accept() }
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

  // MARK: - On the hub's queue

  private func accept() {
    while true {
      switch listener.accept() {
      case .client(let descriptor):
        if let refusal = DescriptorReserve.refusal(ofClient: log, hub.watch.name) {
          refuse(descriptor, refusal)
        } else {
          SocketClient(descriptor, hub, settings).start()
        }
      case .nobody: return
      case .lack(let code): return wait(because: code)
      }
    }
  }

  private func refuse(_ descriptor: Int32, _ reason: String) {
    let line = SocketClient.refusal(reason)
    _ = Foundation.send(descriptor, line, line.count, Int32(MSG_NOSIGNAL))
    close(descriptor)
  }

  /// The socket stays readable meanwhile: without the pause this would be tried again at once.
  private func wait(because code: Int32) {
    let reason = StorageError(errno: code, operation: "accept", path: settings.path).detail
    DescriptorReserve.note("cannot accept clients: \(reason)", log, hub.watch.name)
    source.suspend()
    // It must be resumed also if it is cancelled meanwhile.
    nonisolated(unsafe) let paused = source  // because: it may be resumed from any thread
    hub.queue.asyncAfter(deadline: .now() + Self.pause) { paused.resume() }
  }
}
