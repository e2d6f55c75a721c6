import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into a call, so that a tool that runs until it is stopped ends cleanly.
/// The second signal ends the process at once, in case the clean end hangs.
package final class SignalTrap: Sendable {
  // Keeps the sources alive as long as the trap; they are created, started and cancelled only in
  // the initializer and deinit.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]  // because: set once

  /// Returns when the signals are caught: later signals are not lost. Earlier ones have their
  /// default action.
  ///
  /// - Parameter handler: called once, for the first signal, on a private queue.
  package init(
    _ signals: [Int32] = [SIGINT, SIGTERM], handler: @escaping @Sendable (Int32) -> Void
  ) {
    let queue = DispatchQueue(label: "tarn.signals")
    // The sources replace the default action some time after they are resumed. Ignoring the signals
    // until then would lose them.
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

  /// Makes a write to a closed pipe fail with EPIPE instead of raising a fatal signal.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
