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

extension Instance {
  /// The current collection, including changes of an open write; nil if its object does not exist.
  /// The result is cached until rows move; collections within values of an open write are not,
  /// because they can end without that.
  func sequence(at place: SequencePlace) -> SequenceView? {
    if let session, place.nested != nil {
      return trapping { () throws(StorageError) in
        try session.sequence(at: place).map { SequenceView($0) }
      }
    }
    if let frozen { return readable(frozen).here().sequence(at: place) }
    if let known = sequences[place] { return known }
    let found = trapping { () throws(StorageError) in try rows().sequence(at: place) }
    guard let found else { return nil }
    return sequences.keep(found, at: place)
  }
}

/// The shared view of the collections at one place, until rows move; in a frozen instance it
/// belongs to a thread.
final class SequenceView {
  fileprivate(set) var reading: (any SequenceReading)?

  init(_ reading: any SequenceReading) { self.reading = reading }
}

/// Views of the collections that were read last, by their places.
struct SequenceViews {
  private static let countMax = 64

  private var views: [SequencePlace: SequenceView] = [:]

  var isEmpty: Bool { views.isEmpty }

  subscript(place: SequencePlace) -> SequenceView? { views[place] }

  mutating func keep(_ reading: any SequenceReading, at place: SequencePlace) -> SequenceView {
    if views.count == Self.countMax { forget() }
    let view = SequenceView(reading)
    views[place] = view
    return view
  }

  /// Makes every collection look its view up again, and releases the old views.
  mutating func forget() {
    for view in views.values { view.reading = nil }
    views.removeAll(keepingCapacity: true)
  }
}
