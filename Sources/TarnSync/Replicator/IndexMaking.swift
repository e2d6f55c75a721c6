import TarnStore

/// Builds the index of incarnations of a class after its first download.
enum IndexMaking {
  private typealias Entry = (incarnation: Int64, key: ObjectKey)

  /// How many incarnations are selected in memory, out of at most twice as many; and how many are
  /// written at once.
  private static let partMax = 1_000_000
  private static let writeMax = 50_000

  /// Builds the index of a class unless it exists. After a crash, the next session builds it.
  static func run(_ id: ClassID, _ replica: Replica) throws(StorageError) {
    let snapshot = try replica.store.newestSnapshot()
    guard try !IncarnationIndex(snapshot).isComplete(id) else { return }
    let objects = ReplicaObjects(snapshot)
    var rest: ClosedRange<Int64>? = .min ... .max
    while let range = rest {
      let (part, last) = try part(of: range, in: id, objects)
      rest = last < range.upperBound ? last + 1...range.upperBound : nil
      for start in stride(from: 0, to: part.count, by: writeMax) {
        var records = ReplicaRecords()
        for (incarnation, key) in part[start..<min(start + writeMax, part.count)] {
          records.append(IncarnationIndex.key(id, incarnation), IncarnationIndex.encoded(key))
        }
        try replica.keep(replica.state, records)
      }
    }
    var records = ReplicaRecords()
    records.set(IncarnationIndex.marker(id), nil)
    try replica.keep(replica.state, records)
  }

  /// The first incarnations of a range, in order, and the bound up to which these are complete.
  private static func part(
    of range: ClosedRange<Int64>, in id: ClassID, _ objects: ReplicaObjects
  ) throws(StorageError) -> (part: [Entry], last: Int64) {
    var (part, last): ([Entry], Int64) = ([], range.upperBound)
    try objects.forEach(in: id) { key, object throws(StorageError) in
      guard (range.lowerBound...last).contains(object.incarnation) else { return true }
      part.append((object.incarnation, key))
      if part.count == 2 * partMax {
        part.sort { $0.incarnation < $1.incarnation }
        part.removeLast(partMax)
        last = part[partMax - 1].incarnation
      }
      return true
    }
    part.sort { $0.incarnation < $1.incarnation }
    return (part, last)
  }
}
