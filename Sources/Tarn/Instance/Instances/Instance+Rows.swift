import TarnStore

/// Rows as they are now, and which of them the open write created.
extension Instance {
  /// True if the open write created that row, so that cancelling it invalidates the row's
  /// accessors.
  func isNew(_ key: ObjectKey, _ id: ClassID) -> Bool {
    guard let session, session.hasInserted(into: id) else { return false }
    return trapping { () throws(StorageError) in
      if let earlier = write.savepoint, try earlier.location(of: key, in: id) != nil {
        return false
      }
      return try session.reader.row(key, in: id) == nil
    }
  }

  /// The open write, if it created that row.
  func writeThatMade(_ row: ObjectRef) -> WriteMark? {
    isNew(row.key, row.classID) ? write.mark : nil
  }

  /// The open write, if it created that collection: the object, or the list or map within a value,
  /// whose number the next write may reuse.
  func writeThatMade(_ place: SequencePlace) -> WriteMark? {
    guard let session else { return nil }
    let committed = trapping { () throws(StorageError) in try session.reader.sequence(at: place) }
    return committed == nil ? write.mark : nil
  }

  /// True if that object exists, including changes of an open write.
  func has(_ object: ObjectRef) -> Bool {
    trapping { () throws(StorageError) in try rows().contains(object) }
  }

  /// The value of a row in a column, with the changes of an open write.
  func value(of column: ColumnID, of row: ObjectRef) -> Value? {
    trapping { () throws(StorageError) in
      if let session { return try session.value(of: column, at: row.key, in: row.classID) }
      return try shown().value(of: column, at: row.key, in: row.classID)
    }
  }
}
