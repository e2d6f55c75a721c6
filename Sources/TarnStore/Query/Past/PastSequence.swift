/// A list, set or map of a former version.
package struct PastSequence {
  package let count: Int
  package let isMap: Bool
  /// The newer elements; nil if all are in `former`.
  private let now: StoredSequence?
  private let script: EditScript?
  private let former: OldSequence?
  private let transaction: ReadTransaction
  /// The old runs of the script, by their old positions, with their new ones.
  private let ways: [(old: Range<Int>, new: Int)]

  /// A sequence that did not change.
  init(_ now: StoredSequence) {
    (count, isMap, self.now) = (now.count, now.shape.isMap, now)
    (script, former, ways) = (nil, nil, [])
    transaction = now.snapshot.transaction
  }

  /// A sequence of which all elements were kept; nil for one without elements.
  init(_ whole: OldSequence?, _ transaction: ReadTransaction) {
    count = whole?.elements.count ?? 0
    isMap = whole?.elements.first?.key != nil
    (now, script, former, ways) = (nil, nil, whole, [])
    self.transaction = transaction
  }

  /// A sequence that a script changed into the newer one; `lost` has the dropped and overwritten
  /// elements.
  init(_ now: StoredSequence, _ script: EditScript, _ lost: OldSequence?) {
    (count, isMap, self.now) = (script.oldCount, now.shape.isMap, now)
    (self.script, former) = (script, lost)
    transaction = now.snapshot.transaction
    var ways: [(old: Range<Int>, new: Int)] = []
    var start = 0
    for run in script.runs {
      if case .old(let first, let count) = run { ways.append((first..<first + count, start)) }
      start += run.count
    }
    self.ways = ways.sorted { $0.old.lowerBound < $1.old.lowerBound }
  }

  /// The element at that position; for a map the value.
  package func value(at position: Int) throws(StorageError) -> Value {
    if let element = former?.element(at: position) {
      return try element.value.resolved(in: transaction)
    }
    return try stored().value(at: newPosition(of: position))
  }

  /// The key at that position of a map.
  package func key(at position: Int) throws(StorageError) -> String {
    guard let element = former?.element(at: position) else {
      return try stored().key(at: newPosition(of: position))
    }
    guard case .string(let text)? = try element.key?.resolved(in: transaction) else {
      throw SequenceShape.damaged("a key is not a string")
    }
    return text
  }

  /// The elements, with nested collections as ids.
  package func parts() throws(StorageError) -> SequenceParts {
    var parts = SequenceParts()
    for position in 0..<count {
      parts.values.append(try value(at: position))
      if isMap { parts.keys.append(try key(at: position)) }
    }
    return parts
  }

  private func stored() throws(StorageError) -> StoredSequence {
    guard let now else { throw SequenceShape.damaged("an old element is missing") }
    return now
  }

  private func newPosition(of old: Int) throws(StorageError) -> Int {
    if script == nil { return old }
    let index = ways.partitioningIndex { $0.old.upperBound > old }
    guard index < ways.count, ways[index].old.contains(old) else {
      throw SequenceShape.damaged("an old element is missing")
    }
    return ways[index].new + old - ways[index].old.lowerBound
  }
}
