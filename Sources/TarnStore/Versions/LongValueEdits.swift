/// Names a value that is kept in pieces outside its cluster.
struct LongValueID: Hashable {
  var classID: ClassID
  var key: ObjectKey
  var column: ColumnID
}

/// Long values that an open write sets and drops.
final class LongValueEdits {
  /// Those that the commit puts: handed out by clusters that are packed for good.
  private var kept: [LongValueID: [UInt8]] = [:]
  /// Those of clusters that were packed only to be read, and may change again.
  private var passing: [LongValueID: [UInt8]] = [:]
  /// Those whose pieces in the file go.
  private var dropped: Set<LongValueID> = []

  subscript(_ name: LongValueID) -> [UInt8]? { passing[name] ?? kept[name] }

  func keep(_ name: LongValueID, _ bytes: UnsafeRawBufferPointer) {
    unsafe kept[name] = Array(bytes)
    passing[name] = nil
  }

  func show(_ name: LongValueID, _ bytes: UnsafeRawBufferPointer) {
    unsafe passing[name] = Array(bytes)
  }

  func drop(_ name: LongValueID) {
    kept[name] = nil
    dropped.insert(name)
  }

  /// Forgets what was set for a class that is emptied.
  func clear(_ id: ClassID) {
    kept = kept.filter { $0.key.classID != id }
    passing = passing.filter { $0.key.classID != id }
    dropped = dropped.filter { $0.classID != id }
  }

  /// Removes the pieces of dropped values, then puts those of the kept ones.
  func apply(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    for name in dropped {
      try LongValues(name.classID, name.column).delete(name.key, in: transaction)
    }
    for (name, bytes) in kept {
      unsafe try withBytes(of: bytes) { bytes throws(StorageError) in
        unsafe try LongValues(name.classID, name.column).put(bytes, name.key, in: transaction)
      }
    }
  }
}
