package import TarnStore

/// A live source of any kind, as its instance and its observers see it. All observers of one source
/// share what a step means for it.
protocol ObservedSource: AnyObject {
  // MARK: Where it is registered
  /// The object that it belongs to; nil for one over a class.
  var owner: ObjectRef? { get }
  /// The classes whose changes can concern it, beside the owner's.
  var concerningClasses: Set<ClassID> { get }
  /// The classes of the objects that it shows; none for values.
  var elementClasses: Set<ClassID> { get }
  /// The classes that it is registered for, and for how many reasons.
  var registrations: [ClassID: Int] { get set }

  // MARK: Observing
  /// What it belongs to is gone: after the last step nothing will be told.
  var isGone: Bool { get }
  /// Every step that concerns it is logged.
  var isFollowed: Bool { get }
  /// How far its observers look, each scope once.
  var views: [ScopedLog] { get }
  /// What observers are told who look that far.
  func view(_ scope: Scope) -> ScopedLog
  /// Nobody looks that far any more.
  func remove(_ view: ScopedLog)
  /// An observer is about to be told of what is shown. Steps are logged from here on.
  func beginFollowing() throws(StorageError)
  /// The last observer has gone.
  func endFollowing()
  /// Logs the move that was just made.
  ///
  /// - Parameter prepared: what a worker has made of it for some sources.
  /// - Returns: false if there is nothing to tell in any view.
  func follow(_ move: LiveMove, prepared: PreparedSteps) throws(StorageError) -> Bool
  /// There is what only the program's code can say of it.
  var asksProgram: Bool { get }
  /// All sources have followed the move: what only the program's code can say of it is asked for.
  func askAboutStep()
  /// What an open write shows, for a first call inside of it.
  func baseline() -> LiveBaseline
  /// The elements that a step led to, to be read whenever they are asked for.
  ///
  /// - Parameters:
  ///   - change: what the step did; nil for the last one.
  ///   - state: shows the source as it was then.
  ///   - former: from where on is told what has changed behind them; nil if nobody knows.
  ///   - scope: how far behind them.
  func elements(
    after change: LiveChange?, in state: PastState, since former: PastState?, seen scope: Scope
  ) -> PastElements

  // MARK: Leaving work to others
  /// First calls wait for a worker.
  var isAwaited: Bool { get set }
  /// About what a first call would have to read before it.
  func costOfFirstCall() -> LiveCost
  /// The same for following `changes`; none while nobody has been told of anything.
  func cost(ofFollowing changes: ChangeSet) -> LiveCost
  /// What a worker needs to work out the content for first calls.
  var firstItem: any WorkItem { get }
  /// The same to follow a move; nil while nobody has been told of anything.
  var stepItem: (any WorkItem)? { get }
  /// Takes a worker's content over for first calls, with what was missed since.
  func adopt(_ answer: WorkResult, missed: ChangeSet?)
  /// About what it takes to follow from there.
  func cost(ofFollowing missed: ChangeSet, from answer: WorkResult) -> LiveCost
  /// What a worker needs to do that.
  func followItem(from answer: WorkResult) -> (any WorkItem)?
}

/// A source that is kept alive by those who use it.
final class WeakSource: @unchecked Sendable {
  // because: it is followed on the instance's scheduler alone, that of a frozen one on any thread,
  // and never set again.
  private(set) weak var source: (any ObservedSource)?
  /// How far the observer looks.
  private(set) weak var view: ScopedLog?

  init(_ source: any ObservedSource, _ view: ScopedLog) {
    self.source = source
    self.view = view
  }
}

/// What a worker has made of a step, by the sources that it is about.
package typealias PreparedSteps = [ObjectIdentifier: WorkResult]
