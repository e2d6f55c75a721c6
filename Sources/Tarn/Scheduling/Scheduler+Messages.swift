import CTarn
import Foundation

/// Schedulers as messages name them.
extension Scheduler {
  /// What to do about a scheduler that is only a thread, where code that runs in a task or an actor
  /// has met it: those have no thread of their own. Empty for any other.
  var adviceForTasks: String {
    guard case .thread = self, Self.isInTask else { return "" }
    return
      " A task or an actor may continue on another thread after each await: open the Realm for "
      + "the actor, with try await Realm(actor:), or open, use and let go of it between two awaits."
  }

  /// Where instances of it may be used.
  var ownSide: String {
    switch self {
    case .main: "the main thread, queue and actor"
    case .queue(let queue): "the queue '\(queue.label)'"
    case .runLoop: "a thread with a run loop"
    case .manual: "the thread that owns a ManualScheduler"
    case .actor(let home): "the actor '\(home.name)'"
    case .thread: "a thread"
    case .anywhere: "any thread"
    }
  }

  /// Where this code runs.
  static var thisSide: String {
    if isMain { return "the main thread, queue or actor" }
    let name = Thread.current.name.flatMap { $0.isEmpty ? nil : " '\($0)'" } ?? ""
    return isInTask ? "a task on another actor or on none" : "another thread\(name)"
  }

  private static var isInTask: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }
}
