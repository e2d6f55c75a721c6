/// What can be asked of a collection in the file, be it stored or under edit.
package protocol SequenceReading: AnyObject {
  var shape: SequenceShape { get }
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
  /// The numbers of a large sequence page by page, nil for one that has to be gone over otherwise.
  var numberPages: NumberPages? { get }
}

extension StoredSequence: SequenceReading {}
extension WorkingSequence: SequenceReading {}
