internal import Dispatch
internal import Glibc

/// A part of this process that has a store open and will release it: the thread of a stopped
/// session, or a callback that was called.
///
/// Programs do not notice when that happens. Code that needs the store closed waits for it here.
package final class StoreLeave: Sendable {
  private enum Stage { case staying, leaving, gone }

  private struct Status {
    var stage = Stage.staying
    /// The thread that releases the store; 0 if it is not known yet.
    var thread: UInt = 0
  }

  private let store: ObjectIdentifier
  private let status = Lock(Status())
  private let end = DispatchGroup()

  private static let leaves = Lock(ofProcess: [ObjectIdentifier: [StoreLeave]]())

  package init(_ store: Store) { self.store = ObjectIdentifier(store) }

  /// Notes that the part is about to release the store.
  package func begin() {
    let isNew = status.withLock { status in
      guard status.stage == .staying else { return false }
      status.stage = .leaving
      end.enter()
      return true
    }
    if isNew { Self.leaves.withLock { $0[store, default: []].append(self) } }
  }

  /// Notes that this thread releases the store: it must not wait for itself.
  package func isHere() { status.withLock { $0.thread = UInt(pthread_self()) } }

  /// Notes that the part has released the store.
  package func isOver() {
    let hasBegun = status.withLock { status in
      defer { status.stage = .gone }
      return status.stage == .leaving
    }
    guard hasBegun else { return }
    Self.leaves.withLock { leaves in
      leaves[store]?.removeAll { $0 === self }
      if leaves[store]?.isEmpty == true { leaves[store] = nil }
    }
    end.leave()
  }

  /// Waits until all parts that are about to release the store at a location have released it.
  ///
  /// - Parameter time: the maximum time.
  package static func wait(for location: StoreLocation, atMost time: Duration) {
    let deadline = DispatchTime.now() + .milliseconds(Int(time / .milliseconds(1)))
    // The end of one may release another, which begins then.
    while let leave = next(for: location) {
      guard leave.end.wait(timeout: deadline) == .success else { return }
    }
  }

  private static func next(for location: StoreLocation) -> StoreLeave? {
    guard let store = StoreRegistry.store(at: location).map({ ObjectIdentifier($0) }) else {
      return nil
    }
    let here = UInt(pthread_self())
    return leaves.withLock { $0[store] ?? [] }.first { leave in
      leave.status.withLock { $0.thread } != here
    }
  }
}
