/// How a sequence (a list, a set sorted by value or a map sorted by key) changed: each element's
/// old position, or that it is new.
///
/// A script contains positions, no values. It is a pure value in a normal form, so equal changes
/// have equal scripts. `composing` joins it with the next one and is associative.
package struct EditScript: Equatable, Sendable {
  /// Adjacent elements of the new sequence.
  package enum Run: Equatable, Sendable {
    /// Elements that were adjacent in the same order before, the first of them at `first`.
    case old(first: Int, count: Int)
    /// That many new elements.
    case fresh(Int)

    package var count: Int {
      switch self {
      case .old(_, let count), .fresh(let count): count
      }
    }
  }

  /// The maximum number of runs of a stored or written script; see `limited`.
  package static let runsMax = 65_536
  /// A sequence cannot have more elements; a record that says so is damaged.
  package static let countMax = 1 << 48

  package let oldCount: Int
  package let newCount: Int
  /// In the new order. Each old position is in at most one run, no run is empty, and adjacent runs
  /// are merged.
  package let runs: ContiguousArray<Run>
  /// The new positions of old elements whose value was set, even to the same value.
  package internal(set) var modified: KeySet

  /// - Precondition: the parts form a script in normal form.
  private init(
    known oldCount: Int, _ newCount: Int, _ runs: ContiguousArray<Run>, _ modified: KeySet
  ) {
    self.oldCount = oldCount
    self.newCount = newCount
    self.runs = runs
    self.modified = modified
    assert(isConsistent)
  }

  /// The script of these parts, nil if they are inconsistent or not in normal form.
  init?(checking oldCount: Int, _ newCount: Int, _ runs: ContiguousArray<Run>, _ modified: KeySet) {
    self.oldCount = oldCount
    self.newCount = newCount
    self.runs = runs
    self.modified = modified
    if !isConsistent { return nil }
  }

  /// The script of an unchanged sequence.
  package static func identity(count: Int) -> EditScript {
    EditScript(
      known: count, count, count == 0 ? [] : [.old(first: 0, count: count)], KeySet())
  }

  /// The script that removes every element and inserts new ones.
  package static func replacingAll(oldCount: Int, newCount: Int) -> EditScript {
    EditScript(known: oldCount, newCount, newCount == 0 ? [] : [.fresh(newCount)], KeySet())
  }

  /// The script, if it fits the old and new number of elements; otherwise, or without one, the
  /// script that replaces everything.
  package static func fitting(
    _ script: EditScript?, from oldCount: Int, to newCount: Int
  ) -> EditScript {
    if let script, script.leads(from: oldCount, to: newCount) { return script }
    return .replacingAll(oldCount: oldCount, newCount: newCount)
  }

  /// True if it fits the old and new number of elements. A script from a damaged record might
  /// not.
  func leads(from oldCount: Int, to newCount: Int) -> Bool {
    self.oldCount == oldCount && self.newCount == newCount
  }

  /// True if every element kept its position and none was set.
  package var isIdentity: Bool { keepsPositions && modified.isEmpty }

  /// True if every element kept its position.
  package var keepsPositions: Bool {
    guard oldCount == newCount else { return false }
    return runs.isEmpty || runs.count == 1 && runs[0] == .old(first: 0, count: oldCount)
  }

  /// This script, or the one that replaces everything if this one has too many runs.
  ///
  /// Only written scripts are limited: composing limited scripts is not associative.
  package var limited: EditScript {
    runs.count > Self.runsMax ? .replacingAll(oldCount: oldCount, newCount: newCount) : self
  }

  /// Traps if the script is inconsistent or not in normal form. For tests.
  package func checkInvariants() {
    modified.checkInvariants()
    require(isConsistent)
  }

  /// Whether the parts are consistent. Only adds numbers that were checked before.
  private var isConsistent: Bool {
    guard (0...Self.countMax).contains(oldCount), (0...Self.countMax).contains(newCount) else {
      return false
    }
    var kept: ContiguousArray<KeyRun> = []
    var fresh = KeySet()
    var end = 0
    var previous: Run?
    for run in runs {
      guard run.count > 0, run.count <= newCount - end else { return false }
      switch (previous, run) {
      case (.fresh, .fresh): return false
      case (.old(let first, let count), .old(let next, _)) where first + count == next:
        return false
      default: break
      }
      switch run {
      case .old(let first, let count):
        guard first >= 0, first <= oldCount - count else { return false }
        kept.append(KeyRun(first: Int64(first), last: Int64(first + count - 1)))
      case .fresh(let count):
        fresh.append(KeyRun(first: Int64(end), last: Int64(end + count - 1)))
      }
      end += run.count
      previous = run
    }
    guard end == newCount else { return false }
    radixSort(&kept) { UInt64(bitPattern: $0.first) }
    for (run, next) in zip(kept, kept.dropFirst()) where run.last >= next.first { return false }
    if let first = modified.first, first.rawValue < 0 { return false }
    if let last = modified.last, last.rawValue >= newCount { return false }
    return !modified.intersects(fresh)
  }
}

extension EditScript {
  /// Builds a script from the elements of the new sequence, in order.
  package struct Builder: Sendable {
    private let oldCount: Int
    private var newCount = 0
    private var runs: ContiguousArray<Run> = []
    private var modified = KeySet()

    package init(oldCount: Int) { self.oldCount = oldCount }

    package mutating func reserveRuns(_ count: Int) { runs.reserveCapacity(count) }

    /// An element that was at `position`; no position may be repeated.
    package mutating func append(old position: Int, isModified: Bool = false) {
      if isModified { modified.append(KeyRun(first: Int64(newCount), last: Int64(newCount))) }
      appendOld(position..<position + 1)
    }

    /// Adjacent old elements whose values were not set.
    package mutating func appendOld(_ range: Range<Int>) {
      if range.isEmpty { return }
      newCount += range.count
      if case .old(let first, let count) = runs.last, first + count == range.lowerBound {
        runs[runs.count - 1] = .old(first: first, count: count + range.count)
      } else {
        runs.append(.old(first: range.lowerBound, count: range.count))
      }
    }

    package mutating func appendFresh(_ count: Int = 1) {
      if count == 0 { return }
      newCount += count
      if case .fresh(let before) = runs.last {
        runs[runs.count - 1] = .fresh(before + count)
      } else {
        runs.append(.fresh(count))
      }
    }

    /// - Precondition: each position is one of the old sequence, and none is repeated. Always
    ///   checked: a violating script could be written but not read again.
    package consuming func finish() -> EditScript {
      guard let script = EditScript(checking: oldCount, newCount, runs, modified) else {
        trap("a script has a duplicate position or one out of bounds")
      }
      return script
    }

    /// The same for parts of scripts, which need no check.
    consuming func finishUnchecked() -> EditScript {
      EditScript(known: oldCount, newCount, runs, modified)
    }
  }
}
