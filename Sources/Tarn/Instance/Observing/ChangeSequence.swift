import TarnStore

/// The changes of a collection or an object, for `for await`.
///
/// ```swift
/// for await change in realm.objects(Dog.self).changes {
///   change.apply(to: &dogs)
/// }
/// ```
///
/// A loop receives the changes that an observer would be called with; for a collection the first
/// element is `.initial`. A slow loop receives one merged change for everything since its last
/// element; changes are not queued. Each loop has its own observation. The version before a change,
/// from which nested changes are read, is kept for a loop for at most 32 advances of its Realm;
/// after that ``NestedChange`` names elements as a whole.
///
/// The observation begins when the first element is requested. It ends when the task is cancelled,
/// when the loop is left, and after an error or the deletion of the object, or of the object that
/// has the list, set, map or links. The loop then ends, too.
///
/// Threading: belongs to its Realm's thread, queue or actor, and so does the loop: write it in code
/// of the main actor, of the actor that the Realm was opened for, or of an actor that runs on the
/// Realm's queue. Traps elsewhere, and where observing is not possible: on a thread without later
/// turns, for frozen objects and collections, and in a write that has changed something.
public struct ChangeSequence<Element>: AsyncSequence {
  private let makeFeed: () -> ChangeFeed<Element>

  init(_ makeFeed: @escaping () -> ChangeFeed<Element>) { self.makeFeed = makeFeed }

  /// Creates an iterator, which observes from its first element on. Threading: any.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: makeFeed()) }

  /// Returns one change after another. Copies share one observation, which ends with the last of
  /// them.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let feed: ChangeFeed<Element>

    /// The changes since the last call, merged, as soon as there are any; nil at the end.
    ///
    /// - Parameter actor: the actor that the Realm belongs to.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await feed.next(isolation: actor)
    }
  }
}

/// Holds the changes of a pulled observation until they are read.
final class ChangeInbox<Change> {
  var change: Change?
}

/// An observation that calls no block of the program. It wakes the loop that waits for changes,
/// which then pulls them.
protocol PulledObservation: Observation {
  /// Delivers all changes until now to its block.
  func pull(_ host: any DeliveryHost)
  /// True if no further changes can follow.
  var isExhausted: Bool { get }
}

/// One loop over changes.
///
/// Threading: confined to the instance's scheduler, apart from its release.
final class ChangeFeed<Change> {
  /// A registered observation.
  struct Source {
    let token: NotificationToken
    /// Its change since the last call.
    let take: () -> Change?
    /// True if no further changes can follow.
    let isOver: () -> Bool
  }

  private let signal = ChangeSignal()
  private let begin: (ChangeSignal) -> Source
  private var source: Source?
  private var isOver = false

  /// - Parameter begin: registers an observation that wakes the signal; traps where observing is
  ///   not possible.
  init(_ begin: @escaping (ChangeSignal) -> Source) { self.begin = begin }

  /// A feed of an observation whose block fills an inbox.
  convenience init(
    on host: any DeliveryHost,
    _ register:
      @escaping (ChangeSignal, ChangeInbox<Change>) -> (
        any PulledObservation, NotificationToken
      )
  ) {
    self.init { signal in
      let inbox = ChangeInbox<Change>()
      let (observation, token) = register(signal, inbox)
      return Source(token: token) {
        host.checkThread()
        if inbox.change == nil, observation.state.isActive { observation.pull(host) }
        return inbox.change.take()
      } isOver: {
        !observation.state.isActive || observation.isExhausted
      }
    }
  }

  deinit { source?.token.end() }

  /// The same changes, converted; to be called before this feed is used.
  func map<Other>(_ transform: @escaping (Change) -> Other) -> ChangeFeed<Other> {
    ChangeFeed<Other> { [begin] signal in
      let source = begin(signal)
      return ChangeFeed<Other>.Source(
        token: source.token, take: { source.take().map(transform) }, isOver: source.isOver)
    }
  }

  func next(isolation actor: isolated (any Actor)?) async -> Change? {
    while !isOver {
      if Task.isCancelled || signal.isCancelled { break }
      if let source {
        let change = source.take()
        isOver = source.isOver()
        if let change { return change }
        if isOver { break }
      } else {
        source = begin(signal)
      }
      await signal.wait(isolation: actor)
    }
    isOver = true
    source?.token.end()
    source = nil
    return nil
  }
}

/// An observation of a collection whose changes are pulled by a loop.
final class PulledCollectionObservation: CollectionObservation, PulledObservation {
  private let signal: ChangeSignal

  init(
    state: ObservationState, serial: Int, seen: Int, source: any ObservedSource, _ log: ScopedLog,
    readsTarget: Bool, signal: ChangeSignal, block: @escaping Block
  ) {
    self.signal = signal
    super.init(
      state: state, serial: serial, seen: seen, source: source, log, readsTarget: readsTarget,
      block: block)
  }

  var isExhausted: Bool { source.isGone && !log.hasSteps(after: seen, upTo: .max) }

  override var isPulled: Bool { true }

  override var isFirstCallDue: Bool { super.isFirstCallDue && signal.isWaiting }

  override func hasPendingChange(upTo target: Int) -> Bool {
    signal.isWaiting && (source.isGone || super.hasPendingChange(upTo: target))
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) { signal.wake() }

  func pull(_ host: any DeliveryHost) {
    if waitsForWorker { return }
    super.deliver(upTo: host.step, host)
    if !host.delivery.isDelivering { host.delivery.observers.forgetSteps(of: log) }
  }

  override func end(with error: StorageError) {
    super.end(with: error)
    signal.wake()
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension ChangeSequence: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension ChangeSequence.Iterator: Sendable {}

/// Wakes the one task that waits for changes.
///
/// Threading: used on the instance's scheduler, except `cancel()`, which any thread may call.
final class ChangeSignal: Sendable {
  private enum State {
    case idle
    case waiting(CheckedContinuation<Void, Never>)
    case cancelled
  }

  private let state = Lock(State.idle)

  /// True while a task waits.
  var isWaiting: Bool {
    state.withLock { if case .waiting = $0 { true } else { false } }
  }

  /// The task was cancelled.
  var isCancelled: Bool {
    state.withLock { if case .cancelled = $0 { true } else { false } }
  }

  /// Resumes the waiting task.
  func wake() { end(.idle) }

  private func cancel() { end(.cancelled) }

  private func end(_ next: State) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { if case .cancelled = state {} else { state = next } }
      if case .waiting(let waiting) = state { return waiting } else { return nil }
    }
    waiting?.resume()
  }

  /// Waits until it is woken or the task is cancelled. Continues where it was called.
  func wait(isolation actor: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isRefused = state.withLock { state in
          switch state {
          case .idle:
            state = .waiting(continuation)
            return false
          case .cancelled: return true
          case .waiting: trap("Two tasks use one iterator of changes at once.")
          }
        }
        if isRefused { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }
}
