import TarnStore

/// What a collection observer is told of: a query's rows, or a list, set or map. All observers of
/// one source share what a step means for it.
protocol ObservedSource: AnyObject {
  var observations: [CollectionObservation] { get set }
  /// The numbers of the steps that concern it and that not everybody has been told of, ascending.
  var stepNumbers: [Int] { get }
  /// First calls wait for a worker.
  var isAwaited: Bool { get }
  /// What it belongs to is gone: after the last step nothing will be told.
  var isGone: Bool { get }

  /// An observer is about to be told of what is shown. Steps are logged from here on.
  func prepareForObserving()
  /// What an open write shows, for a first call inside of it.
  func baseline() -> ObservedBaseline
  /// The difference between what there was after step `seen` and after step `last`.
  ///
  /// - Parameter baseline: what the observer saw instead of the state after step `seen`.
  func difference(after seen: Int, upTo last: Int, from baseline: ObservedBaseline?)
    -> ObservedChanges
  /// The last observer has gone.
  func stopTracking()
  /// Lets go of steps that everybody has been told of.
  func forgetSteps()
}

/// A source that goes over its elements in each step that concerns them. Most belong to an object
/// and end with it: a list, set or map, or what links to it.
protocol OwnedSource: ObservedSource {
  /// Nil for one that goes over all objects of a class.
  var owner: LinkTarget? { get }
  /// The classes whose changes can concern its elements.
  var elementClasses: Set<ClassID> { get }
  /// Logs the step that was just made. False if it leaves this source as it was.
  func logStep(_ changes: ChangeSet, _ former: FormerState) -> Bool
}

/// What a first call showed that was made inside a write.
enum ObservedBaseline {
  case rows(OrderedRoot)
  case count(Int)
  case keys([String])
}

/// What an observer is told.
enum ObservedChanges {
  case indices(IndexChanges)
  case keys(KeyChanges)

  var isEmpty: Bool {
    switch self {
    case .indices(let changes): changes.isEmpty
    case .keys(let changes): changes.isEmpty
    }
  }
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

/// The state before a step, while the step is logged.
final class FormerState {
  private let snapshot: Snapshot
  private var reader: SnapshotReader?

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  func sequence(at place: SequencePlace) throws(StorageError) -> StoredSequence? {
    let reader: SnapshotReader
    if let made = self.reader { reader = made } else { reader = try SnapshotReader(snapshot) }
    self.reader = reader
    return try reader.sequence(at: place)
  }
}
