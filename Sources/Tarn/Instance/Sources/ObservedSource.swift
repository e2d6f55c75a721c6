package import TarnStore

/// A live source of any kind, as its instance and its observers see it. All observers of one source
/// share the effect of a step on it.
protocol ObservedSource: AnyObject {
  // MARK: Where it is registered
  /// The object that it belongs to; nil for one over a class.
  var owner: ObjectRef? { get }
  /// The classes whose changes can concern it, besides the owner's.
  var concerningClasses: Set<ClassID> { get }
  /// The classes of the objects that it shows; none for values.
  var elementClasses: Set<ClassID> { get }
  /// How changes find it by the values of rows; nil if it is asked about every change.
  var route: Route? { get }
  /// Its number in the table of its instance while it has observers.
  var number: Int? { get set }

  // MARK: Observing
  /// Its owner was deleted: after the last step, no changes follow.
  var isGone: Bool { get }
  /// Every step that concerns it is logged.
  var isFollowed: Bool { get }
  /// The scopes of its observers, each once.
  var logs: [ScopedLog] { get }
  /// The log for observers with that scope.
  func log(_ scope: Scope) -> ScopedLog
  /// The last observer with that scope has ended.
  func remove(_ log: ScopedLog)
  /// An observer is about to receive the current content. Steps are logged from here on.
  func beginFollowing() throws(StorageError)
  /// The last observer has ended.
  func endFollowing()
  /// Logs the move that was just made.
  ///
  /// - Parameter prepared: the content that a worker has computed for some sources.
  /// - Returns: false if no log has changes to report.
  func follow(_ move: LiveMove, prepared: PreparedSteps) throws(StorageError) -> Bool
  /// True if only the program's code can compute part of its content.
  var asksProgram: Bool { get }
  /// All sources have followed the move: asks the program's code for the parts that only it can
  /// compute.
  func askAboutStep()
  /// The content in an open write, for a first call inside of it.
  func baseline() -> LiveBaseline
  /// The elements after a step, read at their first use.
  ///
  /// - Parameters:
  ///   - change: the changes of the step; nil for the last one.
  ///   - state: the state after the step.
  ///   - past: the state since which changes in linked objects are reported; nil if unknown.
  ///   - scope: how far links are followed.
  func elements(
    after change: LiveChange?, in state: PastState, since past: PastState?, seen scope: Scope
  ) -> PastElements

  // MARK: Leaving work to others
  /// First calls wait for a worker.
  var isAwaited: Bool { get set }
  /// The approximate amount that a first call would have to read before it.
  func costOfFirstCall() -> LiveCost
  /// The approximate amount that following `changes` reads; 0 before the first call.
  func cost(ofFollowing changes: ChangeSet) -> LiveCost
  /// The data with which a worker computes the content for first calls.
  var firstItem: any WorkItem { get }
  /// The data with which a worker follows a move; nil before the first call.
  var stepItem: (any WorkItem)? { get }
  /// Takes over a worker's content for first calls, and the changes made since.
  func adopt(_ answer: WorkResult, missed: ChangeSet?)
  /// The approximate amount that following the changes since a worker's content reads.
  func cost(ofFollowing missed: ChangeSet, from answer: WorkResult) -> LiveCost
  /// The data with which a worker follows these changes.
  func followItem(from answer: WorkResult) -> (any WorkItem)?
}

/// A reference that does not retain its source; the users of the source do.
final class WeakSource: @unchecked Sendable {
  // because: it is followed on the instance's scheduler alone, that of a frozen one on any thread,
  // and never set again.
  private(set) weak var source: (any ObservedSource)?
  /// The scope of the observer.
  private(set) weak var log: ScopedLog?

  init(_ source: any ObservedSource, _ log: ScopedLog) {
    self.source = source
    self.log = log
  }
}

/// The results that a worker has computed for a step, by source.
package typealias PreparedSteps = [ObjectIdentifier: WorkResult]

/// The instance of live sources, as far as they know it: of a Realm, or of a tool that has none.
package protocol LiveHost: AnyObject {
  /// The reader of the current snapshot; the call may begin or advance it.
  func shown() -> SnapshotReader
  /// The open write, if it has changed something.
  var activeWrite: ActiveWrite? { get }
  /// How often the instance has moved to another version.
  var step: Int { get }
  /// The changes of the last moves.
  var recentSteps: RecentSteps { get }
  /// The scopes of its observers.
  var scopes: SharedScopes { get }
  /// Stays at one version, and may be read on any thread.
  var isFrozen: Bool { get }
}

/// A write that has changed something, and its progress.
package struct ActiveWrite {
  let session: WriteSession
  /// Identifies it among the instance's writes.
  let serial: UInt64

  var position: ChangeRecorder.Position { session.recorder.position }
}
