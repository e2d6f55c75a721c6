import Glibc
import Synchronization
import TarnStore

/// A store as a manual scheduler looks after it: through a descriptor of its own, so that no other
/// thread stands between a commit and the pump.
final class WatchedStore: Sendable {
  private struct State {
    var seen: UInt64
    var nextProbe: ContinuousClock.Instant
    /// The signal file is not the one at its path any more, so that nothing may arrive.
    var isLost = false
  }

  private static let probeEvery = Duration.milliseconds(250)

  private let store: Store
  /// Nil if the user has no inotify instance left: then the pump looks every few milliseconds.
  private let descriptor: WaitDescriptor?
  private let onNews: @Sendable () -> Void
  private let state: Mutex<State>

  init(_ store: Store, onNews: @escaping @Sendable () -> Void) {
    self.store = store
    self.onNews = onNews
    do {
      descriptor = try store.signal.makeWaitDescriptor()
    } catch {
      descriptor = nil
      StoreLog.shared.write(
        .warning, "\(store.path): no descriptor to wait on (\(error)); looking every few ms instead"
      )
    }
    state = Mutex(State(seen: store.signal.version, nextProbe: .now + Self.probeEvery))
  }

  /// What to wait on, -1 if there is nothing.
  var rawDescriptor: Int32 { descriptor?.descriptor ?? -1 }
  var mustPoll: Bool { descriptor == nil || state.withLock { $0.isLost } }

  /// Looks for a newer version and says so. Cheap if nothing has arrived.
  func poll() {
    let arrivals = descriptor?.drain() ?? []
    let isNews = state.withLock { state in
      var newest = store.signal.version
      let now = ContinuousClock.now
      // A writer may have died between its commit and the counter.
      if arrivals.contains(.closed) || arrivals.contains(.lost) || now >= state.nextProbe
        || state.isLost || descriptor == nil
      {
        state.nextProbe = now + Self.probeEvery
        state.isLost = !store.signal.isIntact
        newest = max(newest, store.probeHead()?.rawValue ?? 0)
      }
      guard newest > state.seen else { return false }
      state.seen = newest
      return true
    }
    if isNews { onNews() }
  }
}

extension Knock {
  /// Waits until knocked, until one of the others is readable, or for that long. What knocked
  /// before is forgotten.
  func wait(also others: [Int32], milliseconds: Int32) {
    let all = [descriptor] + others
    var polled = all.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = Glibc.poll(&polled, nfds_t(polled.count), milliseconds)
    if polled[0].revents != 0 { drain() }
  }
}
