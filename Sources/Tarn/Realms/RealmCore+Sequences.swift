import TarnStore

/// What can be asked of a collection in the file, be it stored or under edit.
protocol SequenceReading: AnyObject {
  var count: Int { get }
  func value(at index: Int) throws(StorageError) -> Value
  /// Maps: the key at a position.
  func key(at index: Int) throws(StorageError) -> String
  /// Sets: where a value is, or would be.
  func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool)
  /// Maps: where a key is, or would be.
  func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool)
  /// Every element there, of a map the values, until `body` returns false.
  func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError)
}

extension StoredSequence: SequenceReading {}
extension WorkingSequence: SequenceReading {}

extension RealmCore {
  private static var sequencesMax: Int { 64 }

  /// The collection as it is read now, an open write's changes included; nil if its object is not
  /// there. What is found is kept until rows move.
  func sequence(at place: SequencePlace) -> (any SequenceReading)? {
    if let session {
      return trapping { () throws(StorageError) in try session.sequence(at: place) }
    }
    if let known = sequences[place] { return known }
    let reader = shown()
    let found = trapping { () throws(StorageError) in try reader.sequence(at: place) }
    if sequences.count == Self.sequencesMax { sequences.removeAll(keepingCapacity: true) }
    sequences[place] = found
    return found
  }
}
