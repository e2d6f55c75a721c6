import TarnStore

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
