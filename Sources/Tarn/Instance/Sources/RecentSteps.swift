import TarnStore

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
