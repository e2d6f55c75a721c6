/// The only code that records links of collections.
extension WriteSession {
  /// Called for each element that names an object and was added to a collection, or is about to be
  /// removed from it or with it. Not for one that only moves.
  func noteLink(
    added: Bool, target: Value, at place: SequencePlace
  ) throws(StorageError) {
    if !added { abandon(target, schema[place.classID][place.column]) }
    try countLink(
      target, by: added ? 1 : -1, from: place.column, at: place.key, in: place.classID)
  }
}
