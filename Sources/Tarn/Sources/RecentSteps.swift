import TarnStore

/// What the last steps of an instance changed, so that results which nobody observes can follow
/// them when they are asked, instead of starting over. Bounded: behind its end they start over.
package struct RecentSteps {
  private static let least = 32

  private var steps: [(number: Int, changes: ChangeSet)] = []

  package init() {}

  mutating func append(_ number: Int, _ changes: ChangeSet) {
    // Many at a time: each that goes moves all that stay.
    if steps.count == 2 * Self.least { steps.removeFirst(Self.least) }
    steps.append((number, changes))
  }

  /// Everything changed in the steps after `seen` up to `last`, nil if some are forgotten.
  func changes(after seen: Int, upTo last: Int) -> ChangeSet? {
    guard let first = steps.first?.number, first <= seen + 1, seen < last else { return nil }
    let missed = steps.filter { $0.number > seen && $0.number <= last }
    return ChangeSet.merging(missed.map(\.changes))
  }
}
