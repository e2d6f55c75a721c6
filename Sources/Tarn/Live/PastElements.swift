import TarnStore

/// The elements that a source showed at a version, read when they are asked for first.
///
/// Threading: confined to the instance's scheduler. Keeps the version in the file while it lives.
final class PastElements {
  private let read: () throws(StorageError) -> LiveElements
  private lazy var elements = trapping { () throws(StorageError) in try read() }

  init(_ read: @escaping () throws(StorageError) -> LiveElements) { self.read = read }

  var count: Int { elements.count }

  func value(at position: Int) -> Value {
    trapping { () throws(StorageError) in try elements.value(at: position) }
  }

  /// Maps: the value under a key, nil if it is not there.
  func value(for key: String) -> Value? {
    trapping { () throws(StorageError) in try elements.value(for: key) }
  }
}
