/// Reading a collection, stored or under edit.
package protocol SequenceReading: AnyObject {
  var shape: SequenceShape { get }
  var count: Int { get }
  func value(at index: Int) throws(StorageError) -> Value
  /// For maps: the key at a position.
  func key(at index: Int) throws(StorageError) -> String
  /// For sets: the position of a value, or where it would be inserted.
  func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool)
  /// For maps: the position of a key, or where it would be inserted.
  func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool)
  /// Every element in the range, for a map the values, until `body` returns false.
  func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError)
  /// The numbers of a large sequence page by page; nil for other sequences.
  var numberPages: NumberPages? { get }
}

extension StoredSequence: SequenceReading {}
extension WorkingSequence: SequenceReading {}
