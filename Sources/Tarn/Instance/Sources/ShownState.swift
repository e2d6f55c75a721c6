import TarnStore

/// The current state of one instance, and how often it has moved.
///
/// A class, like the other parts of an instance: each read of a struct would be checked for
/// exclusive access at run time, because its methods modify it over longer periods.
final class ShownState {
  /// Nil until something is read, and after `forget`.
  private(set) var reader: SnapshotReader?
  /// How often the shown version has moved, the instance's own commits included.
  private(set) var step = 0
  /// The changes of the last moves, for sources without observers.
  private(set) var recentSteps = RecentSteps()
  /// How often the instance was invalidated; accessors of an earlier life are dead.
  private(set) var life: UInt32 = 0
  /// Invalidated while observers need the state as the base of their next difference: the next use
  /// of the instance moves to the newest version.
  private(set) var needsReset = false

  var version: Version? { reader?.snapshot.version }

  /// Begins at a state that no step leads to.
  func begin(with reader: SnapshotReader) { self.reader = reader }

  /// Moves to a newer version, which is one step.
  ///
  /// - Returns: the state before it.
  func move(
    _ reader: SnapshotReader, to snapshot: Snapshot, _ changes: ChangeSet
  ) throws(StorageError) -> Snapshot {
    let former = reader.snapshot
    try reader.move(to: snapshot)
    step += 1
    recentSteps.append(step, changes)
    needsReset = false
    return former
  }

  /// Makes a step to a state that is not a version; the next move completes it.
  func passThrough(_ changes: ChangeSet) {
    step += 1
    recentSteps.append(step, changes)
  }

  /// The next use of the instance finds the newest version.
  func clearReset() { needsReset = false }

  /// Ends the accessors' life.
  ///
  /// - Parameter keepsState: true if observers' next difference is based on the state.
  func invalidate(keepsState: Bool) {
    life += 1
    if keepsState {
      needsReset = true
    } else {
      reader = nil
      // No step connects the dropped state with the next one.
      step += 1
      recentSteps = RecentSteps()
    }
  }
}

/// The changes of the last steps of an instance. Results without observers follow them at their
/// next use, instead of starting over. The number of steps is limited: with older content they
/// start over.
package struct RecentSteps {
  private static let least = 32

  private var steps: [(number: Int, changes: ChangeSet)] = []

  package init() {}

  mutating func append(_ number: Int, _ changes: ChangeSet) {
    // Many at a time, because removing the first one moves all others.
    if steps.count == 2 * Self.least { steps.removeFirst(Self.least) }
    steps.append((number, changes))
  }

  /// The merged changes of the steps after `seen` up to `last`; nil if some were dropped.
  func changes(after seen: Int, upTo last: Int) -> ChangeSet? {
    guard let first = steps.first?.number, first <= seen + 1, seen < last else { return nil }
    let missed = steps.filter { $0.number > seen && $0.number <= last }
    return ChangeSet.merging(missed.map(\.changes))
  }
}
