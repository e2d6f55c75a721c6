import Foundation
import TarnStore

/// One row of a sectioned list: a section header or an element.
public enum SectionedIdentity<Key: Hashable>: Hashable {
  /// The beginning of the section with that key.
  case section(Key)
  /// An element of the section that began last.
  case element(ElementIdentity)

  /// True for equal section keys, and for elements that are the same.
  public static func == (a: SectionedIdentity, b: SectionedIdentity) -> Bool {
    switch (a, b) {
    case (.section(let a), .section(let b)): SectionKey(a) == SectionKey(b)
    case (.element(let a), .element(let b)): a == b
    default: false
    }
  }

  /// Equal values have equal hashes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .section(let key): hasher.combine(SectionKey(key))
    case .element(let identity): hasher.combine(identity)
    }
  }
}

extension SectionedIdentity: Sendable where Key: Sendable {}

extension SectionsDelta where Element: RealmCollectionValue {
  /// The same change as the difference of two lists of identities, in which each section's key
  /// comes before its elements. Elements that changed, and elements and keys that moved, are
  /// removed and inserted; the two positions of a move are associated with each other.
  ///
  /// Traps for a list of other sections than the old ones. Threading: like the sections; the
  /// difference itself may be passed wherever the keys may.
  ///
  /// - Parameter old: the list of the old sections; applying the difference to it gives that of the
  ///   new ones.
  public func difference(
    from old: [SectionedIdentity<Key>]
  ) -> Swift.CollectionDifference<SectionedIdentity<Key>> {
    typealias Change = Swift.CollectionDifference<SectionedIdentity<Key>>.Change
    let former = SectionLines(old)
    requireOld(former.counts)
    let new = SectionLines((0..<count).map(count(of:)))
    var (targets, origins): ([Int: Int], [Int: Int]) = ([:], [:])
    func associate(_ from: Int, _ to: Int) { (targets[from], origins[to]) = (to, from) }
    for move in moves { associate(former.line(of: move.from), new.line(of: move.to)) }
    for move in sectionMoves { associate(former.starts[move.from], new.starts[move.to]) }
    var changes: [Change] = []
    let removed =
      (deletions + modifications).map(former.line) + sectionsToDelete.flatMap(former.lines)
    for line in removed {
      changes.append(.remove(offset: line, element: old[line], associatedWith: targets[line]))
    }
    for section in sectionsToInsert {
      let line = new.starts[section]
      changes.append(
        .insert(offset: line, element: .section(key(of: section)), associatedWith: origins[line]))
    }
    for path in insertions + modificationsNew {
      let line = new.line(of: path)
      let identity = ElementIdentity(of: element(at: path))
      changes.append(
        .insert(offset: line, element: .element(identity), associatedWith: origins[line]))
    }
    guard let difference = Swift.CollectionDifference(changes) else {
      trap("internal error: a change with a position twice")
    }
    return difference
  }
}

/// The starts of sections in a list that has each section's key before its elements.
private struct SectionLines {
  var starts: [Int] = []
  var counts: [Int] = []

  init(_ counts: [Int]) {
    var line = 0
    for count in counts {
      starts.append(line)
      line += count + 1
    }
    self.counts = counts
  }

  /// Traps for a list that does not begin with a section.
  init<Key>(_ list: [SectionedIdentity<Key>]) {
    var counts: [Int] = []
    for line in list {
      switch line {
      case .section: counts.append(0)
      case .element:
        require(
          !counts.isEmpty,
          "A list of sections must begin with the key of the first one, not with \(line).")
        counts[counts.count - 1] += 1
      }
    }
    self.init(counts)
  }

  func line(of path: IndexPath) -> Int { starts[path.section] + 1 + path.item }

  func lines(of section: Int) -> ClosedRange<Int> {
    starts[section]...starts[section] + counts[section]
  }
}

extension ObservedChange {
  /// Applies this change to a list of identities, like `apply(to:)` to sections: each section's key
  /// comes before its elements.
  public func apply<Key, Element>(toIdentities identities: inout [SectionedIdentity<Key>])
  where Collection == SectionedResults<Key, Element>, Delta == SectionsDelta<Key, Element> {
    switch self {
    case .initial(let sections):
      identities = sections.flatMap { section in
        [.section(section.key)] + section.map { .element(ElementIdentity(of: $0)) }
      }
    case .update(_, let delta):
      guard let new = identities.applying(delta.difference(from: identities)) else {
        trap("internal error: a difference that does not fit its origin")
      }
      identities = new
    case .error: break
    }
  }
}
