import TarnStore

/// The records by which the object of an incarnation is found.
///
/// Incarnations are random numbers: a million of them, stored as they come, write nearly every page
/// of the index with each download. So the index of a class whose first objects are many is made
/// when they are all here, in the order of the numbers. Until then all entries are read to find
/// one.
final class IncarnationIndex {
  private static let kind: UInt8 = 2
  private static let markers: UInt8 = 5
  /// How many objects are worth it.
  static let least = 20_000
  private typealias Entry = (incarnation: Int64, key: ObjectKey)

  /// How many incarnations are sorted in memory, of at most twice as many, and are written at a
  /// time.
  private static let partMax = 1_000_000
  private static let writeMax = 50_000

  private let snapshot: Snapshot
  private var known: [ClassID: Bool] = [:]

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  static func key(_ id: ClassID, _ incarnation: Int64) -> ReplicaKey {
    ReplicaKey(kind, id, incarnation)
  }

  /// The record that says that the index of a class is to be made.
  static func marker(_ id: ClassID) -> ReplicaKey { ReplicaKey(markers, id, 0) }

  static func encoded(_ key: ObjectKey) -> [UInt8] {
    var writer = WireWriter(capacity: 8)
    writer.write(key.rawValue)
    return writer.bytes
  }

  static func decoded(_ bytes: [UInt8]) throws(StorageError) -> ObjectKey {
    var reader = WireReader(bytes)
    guard let number: Int64 = reader.read() else { throw ReplicaObjects.damaged() }
    return ObjectKey(number)
  }

  /// Whether the index has all objects of a class.
  func isComplete(_ id: ClassID) throws(StorageError) -> Bool {
    if let known = known[id] { return known }
    let isComplete = try ReplicaRecords.bytes(Self.marker(id), in: snapshot.transaction) == nil
    known[id] = isComplete
    return isComplete
  }

  func postpone(_ id: ClassID) { known[id] = false }

  /// Makes the index of a class unless it is there. A crash leaves it to the next session.
  static func make(of id: ClassID, _ replica: Replica) throws(StorageError) {
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
          records.append(Self.key(id, incarnation), encoded(key))
        }
        try replica.keep(replica.state, records)
      }
    }
    var records = ReplicaRecords()
    records.set(marker(id), nil)
    try replica.keep(replica.state, records)
  }

  /// The first incarnations of a range, in order, and up to where these are all.
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
