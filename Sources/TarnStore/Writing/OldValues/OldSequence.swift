/// Elements that a list, set or map had before a commit.
package struct OldSequence: Equatable, Sendable {
  package struct Element: Equatable, Sendable {
    /// The position before the commit.
    package var position: Int
    /// For maps.
    package var key: OldValue?
    package var value: OldValue
  }

  package let name: SequenceName
  /// The number of elements before the commit.
  package var oldCount: Int
  /// All elements are kept. Otherwise only those that the script of the sequence drops or
  /// overwrites.
  package var isWhole: Bool
  /// By ascending positions.
  package internal(set) var elements: [Element] = []

  init(name: SequenceName, oldCount: Int, isWhole: Bool) {
    self.name = name
    self.oldCount = oldCount
    self.isWhole = isWhole
  }

  /// The element that was at a position, if it is kept.
  package func element(at position: Int) -> Element? {
    if isWhole { return position < elements.count ? elements[position] : nil }
    let index = elements.partitioningIndex { $0.position >= position }
    return index < elements.count && elements[index].position == position ? elements[index] : nil
  }

  /// The elements of a later commit at their positions before an earlier one. The caller sets
  /// whether these are all.
  ///
  /// - Parameters:
  ///   - script: the script of the earlier commit; nil if that left the sequence unchanged.
  ///   - earlier: the elements of that commit, which take precedence.
  func before(_ script: EditScript?, _ earlier: OldSequence?) -> OldSequence {
    if let earlier, earlier.isWhole { return earlier }
    guard let script else { return self }
    var result = OldSequence(name: name, oldCount: script.oldCount, isWhole: false)
    let ways = OldPositions(script)
    var moved: [Int: Element] = [:]
    for element in elements {
      guard let position = ways.oldPosition(of: element.position) else { continue }
      var element = element
      element.position = position
      moved[position] = element
    }
    for element in earlier?.elements ?? [] { moved[element.position] = element }
    result.elements = moved.values.sorted { $0.position < $1.position }
    return result
  }
}

/// Maps new positions of a script to old ones, for many look-ups.
struct OldPositions {
  private var starts: [Int] = []
  private var runs: [EditScript.Run] = []

  init(_ script: EditScript) {
    var start = 0
    for run in script.runs {
      starts.append(start)
      runs.append(run)
      start += run.count
    }
  }

  /// Nil if the element is new.
  func oldPosition(of new: Int) -> Int? {
    let index = starts.partitioningIndex { $0 > new } - 1
    guard index >= 0, case .old(let first, let count) = runs[index], new - starts[index] < count
    else { return nil }
    return first + new - starts[index]
  }
}

extension [OldSequence] {
  /// The elements of a sequence; nil without any.
  package subscript(name: SequenceName) -> OldSequence? {
    let index = partitioningIndex { $0.name >= name }
    return index < count && self[index].name == name ? self[index] : nil
  }
}

extension EditScript {
  /// The old positions of the elements that it drops or overwrites.
  var lostPositions: KeySet {
    guard oldCount > 0 else { return KeySet() }
    var kept: ContiguousArray<KeyRun> = []
    for case .old(let first, let count) in runs {
      kept.append(KeyRun(first: Int64(first), last: Int64(first + count - 1)))
    }
    let all = KeySet(ObjectKey(0)...ObjectKey(Int64(oldCount - 1)))
    let dropped = all.subtracting(KeySet(unsorted: kept))
    if modified.isEmpty { return dropped }
    let ways = OldPositions(self)
    let overwritten = modified.lazy.compactMap { ways.oldPosition(of: Int($0.rawValue)) }
    return dropped.union(KeySet(overwritten.map { ObjectKey(Int64($0)) }))
  }
}
