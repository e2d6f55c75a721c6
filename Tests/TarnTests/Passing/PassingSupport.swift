import Dispatch
import Foundation

@testable import Tarn

final class GlacierCard: Projection<Glacier> {
  @Projected(\Glacier.name) var title
  @Projected(\Glacier.age) var years
  @Projected(\Glacier.stones.projectTo.weight) var weights
}

extension Instance {
  /// Makes something in another instance of the file, for what is only seen there.
  func reference<Confined: ThreadConfined>(
    _ find: (Instance) throws -> Confined
  ) rethrows -> ThreadSafeReference<Confined> {
    ThreadSafeReference(to: try find(self))
  }

  var shownVersion: UInt64? { realm.core.shownVersion?.rawValue }
}

/// Runs `body` on a thread of its own and waits for its end.
func onAThread(_ body: @escaping @Sendable () -> Void) {
  let thread = Thread { body() }
  thread.start()
  // Values of the thread are let go of, and open writes cancelled, before it is finished.
  while !thread.isFinished {}
}
