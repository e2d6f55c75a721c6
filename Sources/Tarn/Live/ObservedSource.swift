import TarnStore

/// A live source of any kind, as its instance and its observers see it. All observers of one source
/// share what a step means for it.
protocol ObservedSource: AnyObject {
  // MARK: Where it is filed
  /// The object that it belongs to; nil for one over a class.
  var owner: LinkTarget? { get }
  /// The classes whose changes can concern it, beside the owner's.
  var concerningClasses: Set<ClassID> { get }

  // MARK: Observing
  /// What it belongs to is gone: after the last step nothing will be told.
  var isGone: Bool { get }
  /// Every step that concerns it is logged.
  var isFollowed: Bool { get }
  /// An observer is about to be told of what is shown. Steps are logged from here on.
  func beginFollowing() throws(StorageError)
  /// The last observer has gone.
  func endFollowing()
  /// Logs the move that was just made.
  ///
  /// - Parameter prepared: what a worker has made of it.
  /// - Returns: false if it leaves the source as it was.
  func follow(_ move: LiveMove, prepared: LiveAnswer?) throws(StorageError) -> Bool
  /// All sources have followed the move: what only the program's code can say of it is asked for.
  func askAboutStep()
  /// The numbers of the steps that concern it and that not everybody has been told of, ascending.
  var stepNumbers: [Int] { get }
  /// What an open write shows, for a first call inside of it.
  func baseline() -> LiveBaseline
  /// The difference between what there was after step `seen` and after step `last`.
  ///
  /// - Parameter baseline: what the observer saw instead of the state after step `seen`.
  func difference(after seen: Int, upTo last: Int, from baseline: LiveBaseline?) -> LiveDifference
  /// The elements that there were after step `last`, to be read whenever they are asked for.
  ///
  /// - Parameter snapshot: of a version that shows the source as it was then.
  func elements(after last: Int, in snapshot: Snapshot) -> PastElements
  /// Keeps the steps that not everybody has been told of from becoming ever more: merges them
  /// where they are many.
  ///
  /// - Parameter marks: steps after which something is told anew.
  func mergeSteps(splitAt marks: Set<Int>)
  /// Lets go of the steps up to `last`, of which everybody has been told.
  ///
  /// - Returns: what they did to rows.
  func forgetSteps(upTo last: Int) -> [LiveChange]

  // MARK: Leaving work to others
  /// First calls wait for a worker.
  var isAwaited: Bool { get set }
  /// About what a first call would have to read before it.
  func costOfFirstCall() -> LiveCost
  /// The same for following `changes`; none while nobody has been told of anything.
  func cost(ofFollowing changes: ChangeSet) -> LiveCost
  /// What a worker needs to work out the content for first calls.
  var firstItem: any LiveItem { get }
  /// The same to follow a move; nil while nobody has been told of anything.
  var stepItem: (any LiveItem)? { get }
  /// Takes a worker's content over for first calls, with what was missed since.
  func adopt(_ answer: LiveAnswer, missed: ChangeSet?)
  /// About what it takes to follow from there.
  func cost(ofFollowing missed: ChangeSet, from answer: LiveAnswer) -> LiveCost
  /// What a worker needs to do that.
  func followItem(from answer: LiveAnswer) -> (any LiveItem)?
}

extension ObservedSource {
  func hasSteps(after seen: Int, upTo target: Int) -> Bool {
    stepNumbers.contains { $0 > seen && $0 <= target }
  }

  /// The last step up to `target` that no skipped one lies before.
  func lastStep(from first: Int, upTo target: Int, before skipped: Set<Int>) -> Int {
    var last = first
    for number in stepNumbers where number > first && number <= target {
      if skipped.contains(number) { break }
      last = number
    }
    return last
  }
}

/// A source that is kept alive by those who use it.
final class WeakSource: @unchecked Sendable {
  // because: it is followed on the instance's scheduler alone, that of a frozen one on any thread,
  // and never set again.
  private(set) weak var source: (any ObservedSource)?
  init(_ source: any ObservedSource) { self.source = source }
}
