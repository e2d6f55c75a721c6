import TarnStore

/// The records that map an incarnation to its object.
///
/// Incarnations are random numbers: a million of them, stored in the order of arrival, would write
/// nearly every page of the index with each download. So the index of a class with many first
/// objects is built when all of them are here, in the order of the numbers. Until then all entries
/// are read to find one.
final class IncarnationIndex {
  private static let kind: UInt8 = 2
  private static let markers: UInt8 = 5
  /// The number of objects from which this pays off.
  static let least = 20_000
  private let snapshot: Snapshot
  /// The result for the class of the last request.
  private var known: (id: ClassID, isComplete: Bool)?
  private var postponed: Set<ClassID> = []

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  static func key(_ id: ClassID, _ incarnation: Int64) -> ReplicaKey {
    ReplicaKey(kind, id, incarnation)
  }

  /// The record which says that the index of a class must be built.
  static func marker(_ id: ClassID) -> ReplicaKey { ReplicaKey(markers, id, 0) }

  static func encoded(_ key: ObjectKey) -> [UInt8] {
    var writer = BigEndianWriter(capacity: 8)
    writer.write(key.rawValue)
    return writer.bytes
  }

  static func decoded(_ bytes: [UInt8]) throws(StorageError) -> ObjectKey {
    var reader = BigEndianReader(bytes)
    guard let number: Int64 = reader.read() else { throw ReplicaObjects.damaged() }
    return ObjectKey(number)
  }

  /// Whether the index has all objects of a class.
  func isComplete(_ id: ClassID) throws(StorageError) -> Bool {
    if let known, known.id == id { return known.isComplete }
    var isComplete = !postponed.contains(id)
    if isComplete {
      isComplete = try ReplicaRecords.bytes(Self.marker(id), in: snapshot.transaction) == nil
    }
    known = (id, isComplete)
    return isComplete
  }

  func postpone(_ id: ClassID) {
    postponed.insert(id)
    known = (id, false)
  }
}
