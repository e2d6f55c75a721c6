import CTarn
import Dispatch
import Foundation
import TarnStore

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

/// Recognises a queue from the code that runs on it.
enum QueueIdentity {
  /// Lives as long as the queue, even if several Dispatch objects represent it.
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

  /// The identity of a marked queue.
  static func id(of queue: DispatchQueue) -> ObjectIdentifier {
    queue.getSpecific(key: key).map { ObjectIdentifier($0) } ?? ObjectIdentifier(queue)
  }

  /// `DispatchQueue.main` returns a new object at each use, so objects cannot identify it.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.label == DispatchQueue.main.label }

  static var mainIsCurrent: Bool {
    _ = mainIsMarked
    return DispatchQueue.getSpecific(key: mainKey) == true
  }
}

/// A thread that is inside its run loop, and the means to give that loop work. It does not retain
/// the loop, which ends with the thread, and with it the loop's pending work.
///
/// `RunLoop.perform` from another thread does not wake the loop, so Core Foundation wakes it, which
/// Foundation is built on and links.
@safe final class RunLoopThread: @unchecked Sendable {
  // because: RunLoop is not Sendable, yet perform and wake-up may be called on any thread.
  let thread: UInt
  private weak let loop: RunLoop?
  private let handle: UnsafeMutableRawPointer

  private init(_ loop: RunLoop, _ handle: UnsafeMutableRawPointer) {
    thread = tarn_thread_id()
    self.loop = loop
    unsafe self.handle = unsafe handle
  }

  /// This thread's loop if it is running now.
  @inline(never) static var current: RunLoopThread? {
    // Most threads have none, and get none here.
    guard unsafe _CFRunLoopGet0b(pthread_self()) != nil else { return nil }
    let loop = RunLoop.current
    guard loop.currentMode != nil, let handle = unsafe CFRunLoopGetCurrent() else { return nil }
    return unsafe RunLoopThread(loop, handle)
  }

  func perform(_ work: @escaping @Sendable () -> Void) {
    guard let loop else { return }
    loop.perform(inModes: [.common, .default], block: work)
    // The loop has its handle.
    unsafe CFRunLoopWakeUp(handle)
  }
}

/// The names of schedulers in messages.
extension Scheduler {
  /// Advice for code in a task or an actor whose Realm belongs to a plain thread: such code has no
  /// thread of its own. Empty for any other scheduler.
  var adviceForTasks: String {
    guard case .thread = self, Self.isInTask else { return "" }
    return
      " A task or an actor may continue on another thread after each await: open the Realm for "
      + "the actor, with try await Realm(actor:), or open, use and release it between two awaits."
  }

  /// The place where its instances may be used.
  ///
  /// - Parameter thread: the name of the thread when the first of them was opened.
  func ownSide(_ thread: String?) -> String {
    let name = thread.map { " '\($0)'" } ?? ""
    switch self {
    case .main: return "the main thread, queue and actor"
    case .queue(let queue): return "the queue '\(queue.label)'"
    case .runLoop: return "a thread\(name) with a run loop"
    case .manual: return "the thread that owns a ManualScheduler"
    case .actor(let home): return "the actor '\(home.name)'"
    case .thread: return "a thread\(name)"
    case .anywhere: return "any thread"
    }
  }

  /// The place where this code runs.
  static var thisSide: String {
    if isMain { return "the main thread, queue or actor" }
    if let executor = runningExecutor { return executor }
    if isInTask { return "a task without an actor" }
    let label = unsafe String(cString: tarn_queue_label())
    if !label.isEmpty, !label.beginsWithBytes(of: globalLabels) { return "the queue '\(label)'" }
    return "another thread" + (threadName.map { " '\($0)'" } ?? "")
  }

  /// The system's name of this thread: its own, or that of the thread that started it.
  static var threadName: String? { Thread.current.name.flatMap { $0.isEmpty ? nil : $0 } }

  /// An actor's own executor is the actor; a custom one may serve several actors.
  private static var runningExecutor: String? {
    let executor = unsafe swift_task_getCurrentExecutor()
    guard let identity = unsafe executor.identity else { return nil }
    let object = unsafe Unmanaged<AnyObject>.fromOpaque(identity).takeUnretainedValue()
    let name = String(describing: type(of: object))
    let isActor = unsafe executor.implementation == 0
    return isActor ? "the actor '\(name)'" : "an actor on the executor '\(name)'"
  }

  private static var isInTask: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }
}
