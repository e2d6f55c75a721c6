import Synchronization
import TarnStore

/// The life of one observation, shared by its token and by the instance that calls it.
///
/// An observation ends once, and a callback starts only before that: so none starts after
/// `invalidate()` has returned on the observing scheduler.
final class ObservationState: Sendable {
  let target: ObservationTarget
  private let isAlive = Atomic<Bool>(true)

  init(_ target: ObservationTarget) { self.target = target }

  var isActive: Bool { isAlive.load(ordering: .acquiring) }

  /// False if it had ended before.
  @discardableResult
  func end() -> Bool { isAlive.exchange(false, ordering: .acquiringAndReleasing) }
}

/// The target of an observation, where its instance has registered it.
enum ObservationTarget: Sendable {
  case realm
  case object(ClassID, ObjectKey)
  case collection(WeakSource)
  case property
  /// By another token, in another instance.
  case elsewhere
}
