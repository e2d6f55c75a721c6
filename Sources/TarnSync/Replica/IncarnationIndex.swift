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
  /// How many incarnations are in memory at most, and are written at a time.
  private static let partMax = 2_000_000
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

  /// Makes the index of a class, if it is not there. After a crash it is made anew.
  static func make(of id: ClassID, _ replica: Replica) throws(StorageError) {
    let snapshot = try replica.store.newestSnapshot()
    guard try !IncarnationIndex(snapshot).isComplete(id) else { return }
    let objects = ReplicaObjects(snapshot)
    var count = 0
    try objects.forEach(in: id) { _, _ throws(StorageError) in
      count += 1
      return true
    }
    for range in ranges(count / partMax + 1) {
      var part: [(incarnation: Int64, key: ObjectKey)] = []
      try objects.forEach(in: id) { key, object throws(StorageError) in
        if range.contains(object.incarnation) { part.append((object.incarnation, key)) }
        return true
      }
      part.sort { $0.incarnation < $1.incarnation }
      for start in stride(from: 0, to: part.count, by: writeMax) {
        var records = ReplicaRecords()
        for (incarnation, key) in part[start..<min(start + writeMax, part.count)] {
          records.set(Self.key(id, incarnation), encoded(key))
        }
        try replica.keep(replica.state, records)
      }
    }
    var records = ReplicaRecords()
    records.set(marker(id), nil)
    try replica.keep(replica.state, records)
  }

  /// All numbers, in so many ranges.
  private static func ranges(_ count: Int) -> [ClosedRange<Int64>] {
    let width = UInt64.max / UInt64(count)
    return (0..<UInt64(count)).map { place in
      let first = Int64.min &+ Int64(bitPattern: place * width)
      let last = place == UInt64(count) - 1 ? .max : first &+ Int64(bitPattern: width - 1)
      return first...last
    }
  }
}
