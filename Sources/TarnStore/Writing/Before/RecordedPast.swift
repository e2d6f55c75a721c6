/// The content of the change records between two versions: the changes, and the values before them.
package struct RecordedPast: Equatable, Sendable {
  package private(set) var changes: ChangeSet
  package private(set) var images: BeforeImages

  package init(_ changes: ChangeSet, _ images: BeforeImages) {
    self.changes = changes
    self.images = images
  }

  /// Nothing, at one version.
  package init(at version: Version) {
    self.init(ChangeSet(from: version, to: version), BeforeImages())
  }

  package var from: Version { changes.from }
  package var to: Version { changes.to }

  /// This, followed by later records. Associative.
  package func merging(_ later: RecordedPast) -> RecordedPast {
    if changes.isEmpty, images.classes.isEmpty {
      var result = later
      result.changes.from = from
      return result
    }
    return RecordedPast(
      changes.merging(later.changes), images.merging(later.images, after: changes))
  }

  /// The records after `from`, up to and including `to`.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  package init(
    after from: Version, upTo to: Version, in transaction: ReadTransaction
  ) throws(StorageError) {
    // Each with the number of records in it. Parts of about the same size are merged, so that the
    // memory follows from the net changes and each record is merged few times.
    var parts: [(count: Int, past: RecordedPast)] = []
    try ChangeLog.forEachRecord(after: from, upTo: to, in: transaction) {
      found throws(StorageError) in
      let met = try found.met()
      var part = (
        count: 1, past: RecordedPast(met.changes, try BeforeDecoder.images(met.former, met.changes))
      )
      while let last = parts.last, last.count <= part.count {
        part = (last.count + part.count, last.past.merging(part.past))
        parts.removeLast()
      }
      parts.append(part)
      return true
    }
    guard var result = parts.popLast()?.past else {
      self.init(at: from)
      return
    }
    while let last = parts.popLast() { result = last.past.merging(result) }
    self = result
  }
}
