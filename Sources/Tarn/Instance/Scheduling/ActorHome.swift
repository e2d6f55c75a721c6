import CTarn
import TarnStore

/// An actor as the home of instances. It does not retain the actor.
///
/// An actor has no thread: after each suspension it may continue on another one. So the executor
/// that code runs on decides whether it may use an instance.
final class ActorHome: Sendable {
  let id: ObjectIdentifier
  /// The type of the actor, for messages.
  let name: String
  private weak let actor: (any Actor)?

  init(_ actor: any Actor) {
    id = ObjectIdentifier(actor)
    name = String(describing: type(of: actor))
    self.actor = actor
  }

  /// True if this code runs on the actor, in a task or in `assumeIsolated`.
  var isCurrent: Bool {
    guard let actor else { return false }
    let executor = unsafe actor.unownedExecutor
    let words = unsafe withUnsafeBytes(of: executor) { unsafe $0.load(as: tarn_executor.self) }
    if unsafe swift_task_isCurrentExecutorWithFlags(words, 0) { return true }
    // Code that runs without a task below an executor of the program's own, such as a queue: only
    // that executor knows. An actor without one has nothing to ask here.
    guard unsafe words.implementation != 0 else { return false }
    return unsafe executor.asSerialExecutor()?.isIsolatingCurrentContext() == true
  }

  /// The actor was deallocated, so no code is isolated to it any more.
  var isGone: Bool { actor == nil }

  /// True for the same actor, not only for one at the address of a deallocated one.
  func isSame(as other: ActorHome) -> Bool { id == other.id && actor != nil && other.actor != nil }

  /// Runs `work` on the actor, later; never if the actor is deallocated by then.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    Task.detached { [weak actor] in await actor?.perform(work) }
  }
}

extension Actor {
  fileprivate func perform(_ work: @Sendable () -> Void) { work() }
}
