import Glibc
import TarnStore

/// A store that a manual scheduler watches through its own descriptor, so that no other thread is
/// involved between a commit and the pump.
final class WatchedStore: Sendable {
  /// Nil if the process has no descriptor left: then the pump polls every few milliseconds.
  private let descriptor: WaitDescriptor?
  private let watched: WatchedFile
  private let isTurnWaiting: @Sendable () -> Bool
  private let probeEvery: Duration
  private let nextProbe: Lock<ContinuousClock.Instant>

  /// - Parameters:
  ///   - probeEvery: how often it checks that the file still exists, if nothing arrives.
  ///   - isTurnWaiting: whether the turn that `onNews` asks for is still pending.
  init(
    _ store: Store,
    probeEvery: Duration = .nanoseconds(Int64(Lookout.lookEveryNanoseconds)),
    isTurnWaiting: @escaping @Sendable () -> Bool = { false },
    onNews: @escaping @Sendable () -> Void
  ) {
    self.isTurnWaiting = isTurnWaiting
    self.probeEvery = probeEvery
    nextProbe = Lock(ContinuousClock.now + probeEvery)
    watched = WatchedFile(
      file: store.signal, seen: store.signal.version,
      observer: WatchedFile.Observer {
        store.probeHead()?.rawValue
      } isGone: {
        store.isLost()
      } onChange: {
        onNews()
      })
    do throws(StorageError) {
      descriptor = try store.signal.makeWaitDescriptor()
    } catch {
      descriptor = nil
      watched.fallBack(.noWatch(error.detail))
    }
  }

  /// The descriptor to wait on, -1 without one.
  var rawDescriptor: Int32 { watched.isEnded ? -1 : descriptor?.descriptor ?? -1 }
  var mustPoll: Bool { watched.isPolled }
  /// The store was deleted or replaced, which was reported.
  var isEnded: Bool { watched.isEnded }

  /// Looks for a newer version and reports it. Cheap if nothing has arrived.
  ///
  /// A pending turn checks by itself. If the counter is enough, arrived events stay for the poll
  /// before the next sleep: no turn waits for the system to deliver them.
  func poll() {
    if watched.lookAtCounter() || isTurnWaiting() { return }
    let arrivals = descriptor?.drain() ?? []
    let now = ContinuousClock.now
    let isTime = nextProbe.withLock { next in
      // A writer may have died between its commit and the counter.
      guard now >= next || arrivals.callsForProbe else { return false }
      next = now + probeEvery
      return true
    }
    if isTime { watched.checkIntact() }
    watched.look(probing: isTime || watched.isPolled)
  }
}

extension Waker {
  /// Waits until the waker, if there is one, is knocked, until one of the others is readable, or
  /// for that long. Earlier knocks are forgotten.
  static func wait(for waker: Waker?, also others: [Int32], milliseconds: Int32) {
    let all = [waker?.descriptor ?? -1] + others
    var polled = all.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe Glibc.poll(&polled, nfds_t(polled.count), milliseconds)
    if polled[0].revents != 0 { waker?.drain() }
  }
}
