import Foundation
import Testing

@testable import Tarn

/// Holds a worker up before it begins, so that a test sees what happens meanwhile.
final class HeldWorker: Sendable {
  private let begun = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)

  /// What the worker calls first.
  var hold: @Sendable () -> Void {
    { [begun, released] in
      begun.signal()
      released.wait()
    }
  }

  /// Returns when the worker stands still here; false if it never came.
  func waitUntilHeld() -> Bool { begun.wait(timeout: .now() + 300) == .success }

  func release() { released.signal() }
}

extension Realm {
  /// Leaves to the worker what reads more than that many rows, on a manual scheduler as well. A
  /// row that changed counts as ten.
  func useWorker(rows: Int, commits: Int = 500) {
    core.advancer.workLimits.usesWorker = true
    core.advancer.workLimits.rows = rows
    core.advancer.workLimits.rowsPerLookup = 10
    core.advancer.workLimits.commits = commits
  }

  /// The worker stands still before each piece of work until it is released.
  func holdWorker() -> HeldWorker {
    let held = HeldWorker()
    core.advancer.workLimits.willWork = held.hold
    return held
  }

  func goOn(_ held: HeldWorker) {
    core.advancer.workLimits.willWork = nil
    held.release()
  }

  var isAtWork: Bool { core.advancer.workAhead != nil }
}

extension Instance {
  /// Takes turns until the worker has nothing left to do for this instance either.
  func settle() {
    pump()
    while realm.isAtWork {
      guard scheduler.wait(timeout: 300) else {
        Issue.record("the worker has not ended within a minute")
        return
      }
      pump()
    }
  }
}
