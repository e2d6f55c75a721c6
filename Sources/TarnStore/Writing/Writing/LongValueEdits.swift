/// Identifies a value that is stored in pieces outside its cluster.
struct LongValueID: Hashable {
  var classID: ClassID
  var key: ObjectKey
  var column: ColumnID
}

/// Long values that an open write sets and drops. A cluster passes each of its long values on once,
/// when it is packed (also if it is packed only to be read), and from then on treats it as stored.
final class LongValueEdits {
  private var kept: [LongValueID: [UInt8]] = [:]
  /// Values whose pieces in the file are removed.
  private var dropped: Set<LongValueID> = []

  subscript(_ name: LongValueID) -> [UInt8]? { kept[name] }

  func keep(_ name: LongValueID, _ bytes: UnsafeRawBufferPointer) {
    unsafe kept[name] = Array(bytes)
  }

  func drop(_ name: LongValueID) {
    kept[name] = nil
    dropped.insert(name)
  }

  /// Drops the values set for an emptied class.
  func clear(_ id: ClassID) {
    kept = kept.filter { $0.key.classID != id }
    dropped = dropped.filter { $0.classID != id }
  }

  /// A copy without the values of those classes.
  func copy(without classes: Set<ClassID>) -> LongValueEdits {
    let copy = LongValueEdits()
    copy.kept = kept.filter { !classes.contains($0.key.classID) }
    copy.dropped = dropped.filter { !classes.contains($0.classID) }
    return copy
  }

  /// Removes the pieces of dropped values, then writes those of the others.
  func apply(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    if kept.isEmpty, dropped.isEmpty { return }
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
