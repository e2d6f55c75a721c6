import TarnStore

extension Realm {
  /// The notifications that `observe` delivers, for `for try await`. A slow loop gets each kind of
  /// notification once, `.didChange` first, however often it would have been sent. See
  /// ``ChangeSequence`` for where the loop may run.
  public var changes: RealmChangeSequence { RealmChangeSequence(core) }
}

/// The notifications of a Realm, for `for try await`.
///
/// ```swift
/// for try await _ in realm.changes { redraw() }
/// ```
///
/// The loop ends like one over a ``ChangeSequence``, and throws when the file can no longer be
/// followed. Threading: the same.
public struct RealmChangeSequence: AsyncSequence {
  private let core: RealmCore

  init(_ core: RealmCore) { self.core = core }

  /// Creates an independent loop, which observes from its first element on. Threading: any.
  public func makeAsyncIterator() -> Iterator {
    let loss = LostFile()
    return Iterator(
      feed: ChangeFeed(on: core) { [core] signal, inbox in
        core.checkCanObserve(isRealmLevel: true)
        _ = core.shown()
        let observation = PulledRealmObservation(core, signal, inbox, loss)
        core.delivery.observers.add(observation)
        return (observation, NotificationToken(observation.state, core.confinedHost()))
      }, loss: loss)
  }

  /// Returns one notification after the other. Copies share their position.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let feed: ChangeFeed<Realm.Notification>
    fileprivate let loss: LostFile

    /// The next notification, as soon as there is one; nil at the end.
    ///
    /// - Parameter actor: the actor that the Realm belongs to.
    /// - Throws: the reason why the file can no longer be followed, once.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Realm.Error) -> Realm.Notification? {
      if let notification = await feed.next(isolation: actor) { return notification }
      if let error = loss.error.take() { throw Realm.Error(error) }
      return nil
    }
  }
}

/// Holds the reason why an observation has ended.
private final class LostFile {
  var error: StorageError?
}

/// An observation of a Realm whose notifications are pulled.
private final class PulledRealmObservation: RealmObservation, PulledObservation {
  private let signal: ChangeSignal
  private let inbox: ChangeInbox<Realm.Notification>
  private let loss: LostFile
  private var hasMoved = false
  private var isBehind = false

  init(
    _ core: RealmCore, _ signal: ChangeSignal, _ inbox: ChangeInbox<Realm.Notification>,
    _ loss: LostFile
  ) {
    self.signal = signal
    self.inbox = inbox
    self.loss = loss
    super.init(
      state: ObservationState(.realm), serial: core.delivery.observers.claimSerial(), seen: 0)
  }

  var isExhausted: Bool { false }

  override func tellOfMove() {
    hasMoved = true
    // The newer version is shown now, or will be reported again.
    isBehind = false
    signal.wake()
  }

  override func tellOfNewerVersion() {
    isBehind = true
    signal.wake()
  }

  func pull(_ host: any DeliveryHost) {
    if hasMoved {
      hasMoved = false
      inbox.change = .didChange
    } else if isBehind {
      isBehind = false
      inbox.change = .refreshRequired
    }
  }

  override func end(with error: StorageError) {
    // The earlier notification comes first.
    if hasMoved { inbox.change = .didChange }
    if state.end() { loss.error = error }
    signal.wake()
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension RealmChangeSequence: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension RealmChangeSequence.Iterator: Sendable {}

extension Realm {
  /// The argument of a realm-level observer.
  public enum Notification: Sendable {
    /// The Realm advanced to a newer version, or committed a write of its own.
    case didChange
    /// With `autorefresh` off: a newer version exists; `refresh()` advances to it.
    case refreshRequired
  }

  /// The type of a realm-level observer.
  public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

  /// Calls `block` whenever this Realm has advanced to a newer version or committed a write, and,
  /// with `autorefresh` off, whenever a newer version is available. Never called on a read-only
  /// Realm that has a private copy; ``changes`` throws there.
  ///
  /// - Returns: a token. Retain it for as long as you want to observe, and invalidate it on this
  ///   Realm's thread.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    core.observe(block)
  }
}

/// A realm-level observation with a block.
final class RealmBlockObservation: RealmObservation {
  // The instance owns its observations.
  private unowned let core: RealmCore
  private let block: Realm.NotificationBlock

  init(_ core: RealmCore, state: ObservationState, block: @escaping Realm.NotificationBlock) {
    self.core = core
    self.block = block
    super.init(state: state, serial: core.delivery.observers.claimSerial(), seen: 0)
  }

  override func tellOfMove() { block(.didChange, Realm(core)) }
  override func tellOfNewerVersion() { block(.refreshRequired, Realm(core)) }
}

extension RealmCore {
  fileprivate func observe(_ block: @escaping Realm.NotificationBlock) -> NotificationToken {
    checkCanObserve(isRealmLevel: true)
    let state = ObservationState(.realm)
    _ = shown()
    delivery.observers.add(RealmBlockObservation(self, state: state, block: block))
    return NotificationToken(state, confinedHost())
  }
}
