/// The only code where collections tell of their links.
extension WriteSession {
  /// Called for each element that names an object and came into a collection, or is about to leave
  /// it with the collection or alone. Not for one that only moves.
  func noteLink(
    added: Bool, target: Value, at place: SequencePlace
  ) throws(StorageError) {
    if !added { abandon(target, schema[place.classID][place.column]) }
    try countLink(
      target, by: added ? 1 : -1, from: place.column, at: place.key, in: place.classID)
  }
}
