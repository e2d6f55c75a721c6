import CTarn
import Dispatch
import Foundation
internal import TarnStore

/// The home of an instance: which code may use it, and how its later turns are started.
///
/// An instance is confined to one scheduler. Main thread, main queue and main actor are one; a
/// serial queue is one whatever thread runs it, and so is any other actor; a thread that runs a run
/// loop is one; a manual scheduler is pumped by its owner. A plain thread has no later turns: its
/// instances advance only when asked to.
enum Scheduler: Sendable {
  case main
  case queue(DispatchQueue)
  case runLoop(RunLoopThread)
  case manual(ManualTurns)
  case actor(ActorHome)
  case thread(UInt)
  /// Nowhere: a frozen instance, which any code may read, at the same time.
  case anywhere

  /// A queue that this code runs on. Traps if it runs elsewhere, and for a queue that runs several
  /// blocks at once.
  init(on queue: DispatchQueue) {
    if QueueIdentity.isMain(queue) {
      require(Self.isMain, "A Realm must be opened on its queue: this is not the main queue.")
      self = .main
      return
    }
    Self.refuseGlobal(queue)
    QueueIdentity.mark(queue)
    require(
      QueueIdentity.isCurrent(queue),
      "A Realm must be opened on its queue: call this on '\(queue.label)'.")
    // Traps on a concurrent queue: a serial queue cannot be recognized in another way.
    dispatchPrecondition(condition: .onQueueAsBarrier(queue))
    self = .queue(queue)
  }

  /// The prefix of the labels of global queues.
  static let globalLabels = "com.apple.root."

  static func refuseGlobal(_ queue: DispatchQueue) {
    require(
      !queue.label.beginsWithBytes(of: globalLabels),
      "A Realm needs a serial queue or the main queue; '\(queue.label)' is a global queue.")
  }

  /// The scheduler of an actor.
  init(of actor: any Actor) {
    self = actor is MainActor ? .main : .actor(ActorHome(actor))
  }

  /// The scheduler of the code that runs here.
  static var current: Scheduler {
    if isMain { return .main }
    if let loop = RunLoopThread.current { return .runLoop(loop) }
    return .thread(tarn_thread_id())
  }

  /// True if this code runs on the scheduler.
  var isCurrent: Bool {
    switch self {
    case .main: Self.isMain
    case .queue(let queue): QueueIdentity.isCurrent(queue)
    case .runLoop(let loop): loop.thread == tarn_thread_id()
    case .manual(let turns): turns.isCurrent
    case .actor(let home): home.isCurrent
    case .thread(let thread): thread == tarn_thread_id()
    case .anywhere: true
    }
  }

  /// True if the scheduler has later turns in which observers can be called.
  var hasTurns: Bool {
    switch self {
    case .main, .queue, .runLoop, .manual, .actor: true
    case .thread, .anywhere: false
    }
  }

  /// Starts a later turn that runs `work`.
  func schedule(_ work: @escaping @Sendable () -> Void) {
    switch self {
    case .main: DispatchQueue.main.async(execute: work)
    case .queue(let queue): queue.async(execute: work)
    case .runLoop(let loop): loop.perform(work)
    case .manual(let turns): turns.enqueue(work)
    case .actor(let home): home.enqueue(work)
    case .thread, .anywhere: break
    }
  }

  /// True for a deallocated actor or manual scheduler: no later turn runs.
  var isGone: Bool {
    switch self {
    case .actor(let home): home.isGone
    case .manual(let turns): turns.hasEnded
    case .main, .queue, .runLoop, .thread, .anywhere: false
    }
  }

  var isActor: Bool {
    if case .actor = self { true } else { false }
  }

  /// True for actors and queues: the current thread does not show that code runs on them.
  var sharesThreads: Bool {
    switch self {
    case .actor, .queue: true
    case .main, .runLoop, .manual, .thread, .anywhere: false
    }
  }

  /// True for a thread, with or without a run loop.
  var isThread: Bool {
    switch self {
    case .thread, .runLoop: true
    case .main, .queue, .manual, .actor, .anywhere: false
    }
  }

  var isActorOrMain: Bool {
    if case .main = self { true } else { isActor }
  }

  /// True if instances of one may be used on the other. Equal keys show that, except for actors,
  /// whose memory another actor may have by now.
  func isSame(as other: Scheduler) -> Bool {
    guard case .actor(let home) = self, case .actor(let otherHome) = other else {
      return key == other.key
    }
    return home.isSame(as: otherHome)
  }

  /// Two schedulers with equal keys share their instances.
  var key: Key {
    switch self {
    case .main: .main
    case .queue(let queue): .queue(QueueIdentity.id(of: queue))
    case .runLoop(let loop): .thread(loop.thread)
    case .manual(let turns): .manual(ObjectIdentifier(turns))
    case .actor(let home): .actor(home.id)
    case .thread(let thread): .thread(thread)
    case .anywhere: .anywhere
    }
  }

  enum Key: Hashable, Sendable {
    case main
    case queue(ObjectIdentifier)
    case manual(ObjectIdentifier)
    case actor(ObjectIdentifier)
    case thread(UInt)
    case anywhere
  }

  /// Main is a scheduler, not a thread: under `dispatchMain()` the main queue runs on workers, and
  /// an async `main` leaves the main thread at its first suspension.
  static var isMain: Bool {
    Thread.isMainThread || QueueIdentity.mainIsCurrent
  }
}
