import CTarn
import Foundation

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
