import TarnStore

/// What the collections of one place read through, until rows move; one of a frozen instance
/// belongs to a thread.
final class SequenceView {
  fileprivate(set) var reading: (any SequenceReading)?

  init(_ reading: any SequenceReading) { self.reading = reading }
}

extension RealmCore {
  private static var sequencesMax: Int { 64 }

  /// The collection as it is read now, an open write's changes included; nil if its object is not
  /// there. What is found is kept until rows move; collections within values of an open write are
  /// not, because they go without that.
  func sequence(at place: SequencePlace) -> SequenceView? {
    if let session, place.nested != nil {
      return trapping { () throws(StorageError) in
        try session.sequence(at: place).map { SequenceView($0) }
      }
    }
    if let frozen { return readable(frozen).here().sequence(at: place) }
    if let known = sequences[place] { return known }
    guard let found = find(place) else { return nil }
    if sequences.count == Self.sequencesMax { forgetSequences() }
    let view = SequenceView(found)
    sequences[place] = view
    return view
  }

  private func find(_ place: SequencePlace) -> (any SequenceReading)? {
    if let session {
      return trapping { () throws(StorageError) in try session.sequence(at: place) }
    }
    let reader = shown()
    return trapping { () throws(StorageError) in try reader.sequence(at: place) }
  }

  /// Makes every collection find anew what it reads through, and lets go of what that was.
  func forgetSequences() {
    for view in sequences.values { view.reading = nil }
    sequences.removeAll(keepingCapacity: true)
  }
}
