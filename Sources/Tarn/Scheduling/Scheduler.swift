import CTarn
import Dispatch
import Foundation
internal import TarnStore

/// Where an instance lives: who may touch it, and how its later turns are started.
///
/// An instance is confined to one scheduler. Main thread, main queue and main actor are one; a
/// serial queue is one whatever thread runs it; a thread that runs a run loop is one; a manual
/// scheduler is pumped by its owner. A plain thread has no later turns: its instances advance only
/// when asked to.
enum Scheduler: Sendable {
  case main
  case queue(DispatchQueue)
  case runLoop(RunLoopThread)
  case manual(ManualScheduler)
  case thread(UInt)
  /// No place of its own: a frozen instance, which any code may read, at the same time.
  case anywhere

  /// A queue that this code runs on. Traps if it runs elsewhere, and for a queue that runs several
  /// blocks at once.
  init(on queue: DispatchQueue) {
    if QueueIdentity.isMain(queue) {
      require(Self.isMain, "A Realm is opened on its queue: this is not the main queue.")
      self = .main
      return
    }
    require(
      !queue.label.hasPrefix("com.apple.root."),
      "A Realm belongs to a serial queue or the main queue; '\(queue.label)' is a global one.")
    QueueIdentity.mark(queue)
    require(
      QueueIdentity.isCurrent(queue),
      "A Realm is opened on its queue: call this inside of '\(queue.label)'.")
    // Stops the program where the queue is concurrent: nothing else tells one from a serial queue.
    dispatchPrecondition(condition: .onQueueAsBarrier(queue))
    self = .queue(queue)
  }

  /// The scheduler of code that runs here and names none.
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
    case .manual(let manual): manual.isCurrent
    case .thread(let thread): thread == tarn_thread_id()
    case .anywhere: true
    }
  }

  /// True if the scheduler has later turns in which observers can be called.
  var hasTurns: Bool {
    switch self {
    case .main, .queue, .runLoop, .manual: true
    case .thread, .anywhere: false
    }
  }

  /// Starts a later turn that runs `work`.
  func schedule(_ work: @escaping @Sendable () -> Void) {
    switch self {
    case .main: DispatchQueue.main.async(execute: work)
    case .queue(let queue): queue.async(execute: work)
    case .runLoop(let loop): loop.perform(work)
    case .manual(let manual): manual.enqueue(work)
    case .thread, .anywhere: break
    }
  }

  /// What to do about a scheduler that is only a thread, where code that runs in a task or an actor
  /// has met it: those have no thread of their own. Empty for any other.
  var adviceForTasks: String {
    guard case .thread = self, unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) else {
      return ""
    }
    return " A task or an actor may continue on another thread after each await: open, use and let "
      + "go of a Realm between two of them, use @MainActor, or run the actor on a serial queue and "
      + "open with Realm(queue:), as the article Concurrency shows."
  }

  /// Two schedulers with equal keys share their instances.
  var key: Key {
    switch self {
    case .main: .main
    case .queue(let queue): .queue(QueueIdentity.id(of: queue))
    case .runLoop(let loop): .thread(loop.thread)
    case .manual(let manual): .manual(ObjectIdentifier(manual))
    case .thread(let thread): .thread(thread)
    case .anywhere: .anywhere
    }
  }

  enum Key: Hashable, Sendable {
    case main
    case queue(ObjectIdentifier)
    case manual(ObjectIdentifier)
    case thread(UInt)
    case anywhere
  }

  /// Main is a place, not a thread: under `dispatchMain()` the main queue runs on workers, and an
  /// async `main` leaves the main thread at its first suspension.
  private static var isMain: Bool {
    Thread.isMainThread || QueueIdentity.mainIsCurrent
  }
}

/// Recognises a queue from the code that runs on it.
enum QueueIdentity {
  /// Lives as long as the queue, whichever object of Dispatch's stands for that.
  private final class Mark: Sendable {
    deinit { SchedulerEnd.tell(.queue(ObjectIdentifier(self))) }
  }

  private static let key = DispatchSpecificKey<Mark>()
  private static let mainKey = DispatchSpecificKey<Bool>()
  private static let mainIsMarked: Void = DispatchQueue.main.setSpecific(key: mainKey, value: true)

  static func mark(_ queue: DispatchQueue) {
    if queue.getSpecific(key: key) == nil { queue.setSpecific(key: key, value: Mark()) }
  }

  static func isCurrent(_ queue: DispatchQueue) -> Bool {
    guard let mark = DispatchQueue.getSpecific(key: key) else { return false }
    return queue.getSpecific(key: key) === mark
  }

  /// Of a queue that was marked.
  static func id(of queue: DispatchQueue) -> ObjectIdentifier {
    queue.getSpecific(key: key).map { ObjectIdentifier($0) } ?? ObjectIdentifier(queue)
  }

  /// `DispatchQueue.main` is another object at each use, so objects do not tell it.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.label == DispatchQueue.main.label }

  static var mainIsCurrent: Bool {
    _ = mainIsMarked
    return DispatchQueue.getSpecific(key: mainKey) == true
  }
}
