/// A list, set or map of a former version.
package final class PastSequence {
  package let shape: SequenceShape
  package let count: Int
  /// The newer elements; nil if all are in `former`.
  private let now: StoredSequence?
  private let script: EditScript?
  private let former: OldSequence?
  private let snapshot: Snapshot
  /// The old runs of the script, by their old positions, with their new ones.
  private let ways: [(old: Range<Int>, new: Int)]

  /// A sequence that did not change.
  init(_ now: StoredSequence) {
    (shape, count, self.now) = (now.shape, now.count, now)
    (script, former, ways) = (nil, nil, [])
    snapshot = now.snapshot
  }

  /// A sequence of which all elements were kept; nil for one without elements.
  init(_ whole: OldSequence?, _ shape: SequenceShape, _ snapshot: Snapshot) {
    self.shape = shape
    count = whole?.elements.count ?? 0
    (now, script, former, ways) = (nil, nil, whole, [])
    self.snapshot = snapshot
  }

  /// The shape of a sequence of which all elements were kept. A nested one with keys is a map.
  static func shape(
    at place: SequencePlace, _ former: OldSequence?, _ schema: SchemaView
  ) -> SequenceShape {
    let column = schema[place.classID][place.column]
    if place.nested == nil, column.collection != .none { return SequenceShape(column) }
    return .nested(former?.elements.first?.key == nil ? .list : .map)
  }

  /// A sequence that a script changed into the newer one; `lost` has the dropped and overwritten
  /// elements.
  init(_ now: StoredSequence, _ script: EditScript, _ lost: OldSequence?) {
    (shape, count, self.now) = (now.shape, script.oldCount, now)
    (self.script, former) = (script, lost)
    snapshot = now.snapshot
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
      return try snapshot.schema.checked(element.value.resolved(in: snapshot.transaction))
    }
    return try stored().value(at: newPosition(of: position))
  }

  /// The key at that position of a map.
  package func key(at position: Int) throws(StorageError) -> String {
    guard let element = former?.element(at: position) else {
      return try stored().key(at: newPosition(of: position))
    }
    guard case .string(let text)? = try element.key?.resolved(in: snapshot.transaction) else {
      throw SequenceShape.damaged("a key is not a string")
    }
    return text
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

extension PastSequence: SequenceReading {
  package func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool) {
    try find { position throws(StorageError) in
      SequenceOrder.compare(try self.value(at: position), value)
    }
  }

  package func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool) {
    try find { position throws(StorageError) in
      SequenceOrder.compare(try self.key(at: position), key)
    }
  }

  /// The first position whose element is not before the one sought.
  private func find(
    _ order: (Int) throws(StorageError) -> Int
  ) throws(StorageError) -> (index: Int, isFound: Bool) {
    for position in 0..<count {
      let found = try order(position)
      if found >= 0 { return (position, found == 0) }
    }
    return (count, false)
  }

  package func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    for position in range { guard try body(value(at: position)) else { return } }
  }

  package var numberPages: NumberPages? { nil }
}
