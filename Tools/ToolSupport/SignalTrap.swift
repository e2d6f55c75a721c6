import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into a call, so that a tool that runs until it is told to stop ends
/// in order. The second signal ends the process at once: it may be that the order is stuck.
package final class SignalTrap: Sendable {
  // Kept so that the sources live as long as the trap; they are made, started and cancelled in
  // the initializer and deinit only.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]  // because: set once

  /// - Parameter handler: called on a queue of the trap's own, once for the first signal.
  package init(
    _ signals: [Int32] = [SIGINT, SIGTERM], handler: @escaping @Sendable (Int32) -> Void
  ) {
    let queue = DispatchQueue(label: "tarn.signals")
    sources = signals.map { number in
      // Without this the default action would still end the process.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        for number in signals { signal(number, SIG_DFL) }
        handler(number)
      }
      return source
    }
    for source in sources { source.resume() }
  }

  deinit {
    for source in sources { source.cancel() }
  }

  /// Makes a write to a closed pipe an error (EPIPE) instead of a signal that ends the process.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
