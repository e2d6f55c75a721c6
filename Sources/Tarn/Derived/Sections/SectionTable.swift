import Foundation
import TarnStore

/// A section's key with the identity of sections: like groups, by the stored value.
struct SectionKey<Key: Hashable>: Hashable {
  let key: Key
  /// The value; nil if the key's own `==` gives the same result, and for custom types.
  private let element: ElementKey?

  init(_ key: Key) {
    self.key = key
    element = Self.element(key)
  }

  private static func element(_ key: Key) -> ElementKey? {
    if Key.self == Int.self || Key.self == Bool.self || Key.self == Date.self { return nil }
    if Key.self == String.self, let text = key as? String { return ElementKey(.string(text)) }
    guard let value = key as? any _Persistable, !KeyPathProbe.isCustom(Key.self) else { return nil }
    return ElementKey(value._box().value)
  }

  /// False for a value that is unequal to itself.
  private var isSame: Bool { key == key }

  static func == (a: Self, b: Self) -> Bool {
    switch (a.element, b.element) {
    case (let a?, let b?): a == b
    case (nil, nil): a.key == b.key || !a.isSame && !b.isSame
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    if let element { hasher.combine(element) } else if isSame { hasher.combine(key) }
  }
}

/// The keys of sections in their order; tables with the same sections share one.
final class SectionKeys<Key: Hashable> {
  let list: [SectionKey<Key>]
  private(set) lazy var numbers: [SectionKey<Key>: Int] = Dictionary(
    uniqueKeysWithValues: list.enumerated().map { ($1, $0) })

  init(_ list: [SectionKey<Key>]) { self.list = list }

  var count: Int { list.count }
}

/// The division of a result's rows into sections at a moment: a value.
///
/// Adjacent rows of one section are one run. So if rows are sorted by the section key, a table is
/// as large as the number of sections, and otherwise at most as large as the number of rows.
struct SectionTable<Key: Hashable> {
  /// Adjacent rows in one section.
  struct Run: Equatable {
    /// The first row among all.
    var position: Int
    var section: Int
    /// The position of the first row in its section.
    var item: Int
  }

  let keys: SectionKeys<Key>
  /// In the order of the rows; neighbours belong to different sections.
  let runs: ContiguousArray<Run>
  let rowCount: Int
  /// Runs in the order of their sections, and within one in that of the rows.
  private let bySection: ContiguousArray<Int>
  /// The start of each section in `bySection`, and its end.
  private let starts: ContiguousArray<Int>

  /// No rows, no sections.
  init() { self.init(SectionKeys([]), [], rowCount: 0) }

  init(_ keys: SectionKeys<Key>, _ runs: ContiguousArray<Run>, rowCount: Int) {
    self.keys = keys
    self.runs = runs
    self.rowCount = rowCount
    var starts = ContiguousArray(repeating: 0, count: keys.count + 1)
    for run in runs { starts[run.section + 1] += 1 }
    for section in 0..<keys.count { starts[section + 1] += starts[section] }
    var next = starts
    var bySection = ContiguousArray(repeating: 0, count: runs.count)
    for (index, run) in runs.enumerated() {
      bySection[next[run.section]] = index
      next[run.section] += 1
    }
    self.starts = starts
    self.bySection = bySection
  }

  var count: Int { keys.count }

  func number(of key: Key) -> Int? { keys.numbers[SectionKey(key)] }

  /// The row after the last one of a run.
  func end(ofRun index: Int) -> Int {
    index + 1 < runs.count ? runs[index + 1].position : rowCount
  }

  /// The number of rows in a section.
  func count(of section: Int) -> Int {
    let last = bySection[starts[section + 1] - 1]
    return runs[last].item + end(ofRun: last) - runs[last].position
  }

  /// The position of a section's row among all rows. The row must exist.
  func position(_ item: Int, in section: Int) -> Int {
    let own = bySection[starts[section]..<starts[section + 1]]
    let after = own.partitioningIndex { runs[$0].item > item }
    let run = runs[own[after - 1]]
    return run.position + item - run.item
  }

  /// The run of a row.
  func run(at position: Int) -> Int { runs.partitioningIndex { $0.position > position } - 1 }

  /// The section of a row, and its position there.
  func path(of position: Int) -> SectionPath {
    let run = runs[run(at: position)]
    return SectionPath(section: run.section, item: run.item + position - run.position)
  }
}

/// A position in sections.
struct SectionPath: Comparable {
  var section: Int
  var item: Int

  static func < (a: Self, b: Self) -> Bool { (a.section, a.item) < (b.section, b.item) }
}

extension SectionTable {
  /// Builds a table from the first row on; sections are in the order of their first rows.
  struct Builder {
    private let old: SectionTable?
    /// For each old section its new number, -1 while it has no row.
    private var renumbered: ContiguousArray<Int>
    private var keys: [SectionKey<Key>] = []
    private var counts: ContiguousArray<Int> = []
    /// Numbers for keys that the old table does not have.
    private var fresh: [SectionKey<Key>: Int] = [:]
    private var runs: ContiguousArray<Run> = []
    private var rowCount = 0

    /// - Parameter old: a table whose rows may be reused.
    init(from old: SectionTable? = nil) {
      self.old = old
      renumbered = ContiguousArray(repeating: -1, count: old?.count ?? 0)
    }

    /// The next row.
    mutating func append(_ key: Key) {
      let key = SectionKey(key)
      if let last = runs.last, keys[last.section] == key { return append(1, to: last.section) }
      if let old, let number = old.keys.numbers[key] { return append(1, ofOld: number) }
      let section = fresh[key] ?? begin(key)
      fresh[key] = section
      append(1, to: section)
    }

    /// The next rows are those that had these positions in the old table.
    mutating func append(old positions: Range<Int>) {
      guard let old, !positions.isEmpty else { return }
      var index = old.run(at: positions.lowerBound)
      var position = positions.lowerBound
      while position < positions.upperBound {
        let end = min(old.end(ofRun: index), positions.upperBound)
        append(end - position, ofOld: old.runs[index].section)
        position = end
        index += 1
      }
    }

    private mutating func append(_ count: Int, ofOld number: Int) {
      if renumbered[number] < 0 { renumbered[number] = begin(old!.keys.list[number]) }
      append(count, to: renumbered[number])
    }

    private mutating func begin(_ key: SectionKey<Key>) -> Int {
      keys.append(key)
      counts.append(0)
      return keys.count - 1
    }

    private mutating func append(_ count: Int, to section: Int) {
      if runs.last?.section != section {
        runs.append(Run(position: rowCount, section: section, item: counts[section]))
      }
      counts[section] += count
      rowCount += count
    }

    consuming func finish() -> SectionTable {
      if let old, renumbered.elementsEqual(0..<keys.count) {
        return SectionTable(old.keys, runs, rowCount: rowCount)
      }
      return SectionTable(SectionKeys(keys), runs, rowCount: rowCount)
    }
  }
}
