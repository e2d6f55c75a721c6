import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into a call, so that a tool that runs until it is told to stop ends
/// in order. The second signal ends the process at once: it may be that the order is stuck.
package final class SignalTrap: Sendable {
  // Kept so that the sources live as long as the trap; they are made, started and cancelled in
  // the initializer and deinit only.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]  // because: set once

  /// Returns when the signals are caught: none that comes later is lost. One that comes before
  /// has its default action.
  ///
  /// - Parameter handler: called on a queue of the trap's own, once for the first signal.
  package init(
    _ signals: [Int32] = [SIGINT, SIGTERM], handler: @escaping @Sendable (Int32) -> Void
  ) {
    let queue = DispatchQueue(label: "tarn.signals")
    // The sources replace the default action themselves, some time after they are resumed. To
    // ignore the signals meanwhile would lose them.
    let installed = DispatchSemaphore(value: 0)
    sources = signals.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        for number in signals { signal(number, SIG_DFL) }
        handler(number)
      }
      source.setRegistrationHandler { installed.signal() }
      return source
    }
    for source in sources { source.resume() }
    for _ in sources { installed.wait() }
  }

  deinit {
    for source in sources { source.cancel() }
  }

  /// Makes a write to a closed pipe an error (EPIPE) instead of a signal that ends the process.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
