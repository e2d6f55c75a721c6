/// The state before some commits that change records keep, by class: the values that the changes of
/// these commits removed or replaced.
///
/// A pure value that accompanies the `ChangeSet` of the same commits. It has only the values that
/// its level requires, which is given for each class when the commit is made.
package struct OldValues: Equatable, Sendable {
  /// In the order of the ids. A class without an entry has nothing to keep at any level, such as
  /// one that only got new objects.
  package internal(set) var classes: [ClassOldValues] = []

  package init() {}

  /// The former values of a class; nil without any.
  package subscript(id: ClassID) -> ClassOldValues? {
    let index = classes.partitioningIndex { $0.id >= id }
    return index < classes.count && classes[index].id == id ? classes[index] : nil
  }

  /// How much is kept of a class.
  package func level(of id: ClassID) -> OldValueLevel { self[id]?.level ?? .oldValues }

  /// These images, followed by those of later commits. Associative.
  ///
  /// - Parameter changes: the changes of the commits of these images.
  package func merging(_ later: OldValues, after changes: ChangeSet) -> OldValues {
    var result = OldValues()
    var mine = classes[...]
    for theirs in later.classes {
      while let next = mine.first, next.id < theirs.id { result.classes.append(mine.removeFirst()) }
      let isShared = mine.first?.id == theirs.id
      var merged = isShared ? mine.removeFirst() : ClassOldValues(theirs.id, .oldValues)
      merged.merge(theirs, after: changes[theirs.id])
      result.classes.append(merged)
    }
    result.classes += mine
    return result
  }
}

extension ClassChanges {
  /// The level that is complete without any former values: nothing that it requires was removed or
  /// replaced.
  var levelWithoutImages: OldValueLevel {
    if isCleared || !deleted.isEmpty { return .none }
    return touched.isEmpty ? .oldValues : .deletedObjects
  }
}

/// The change records' images of the state before the commits.
extension ChangeLog {
  /// Writes a commit's record with images, and the long values that they refer to.
  static func put(
    _ changes: ChangeSet, _ meta: inout ChangeRecord.Meta, _ images: OldValues,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    if images.classes.isEmpty { return try put(changes, &meta, in: transaction) }
    let encoder = OldValueEncoder(images, changes)
    var sections = encoder.sections
    sections.longByteCount = encoder.longValues.reduce(0) { $0 + $1.count }
    try put(changes, &meta, sections, in: transaction)
    for (number, bytes) in encoder.longValues.enumerated() {
      try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
        try unsafe Pieces.oldValue(changes.to, UInt32(number)).put(bytes, in: transaction)
      }
    }
  }

  /// The changes of one commit, and the images in its record.
  package static func images(
    of version: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> (changes: ChangeSet, images: OldValues) {
    let (_, changes, sections) = try sections(of: version, in: transaction)
    return (changes, try OldValueDecoder.images(sections, changes))
  }
}

/// The content of the change records between two versions: the changes, and the values before them.
package struct RecordedPast: Equatable, Sendable {
  package private(set) var changes: ChangeSet
  package private(set) var images: OldValues

  package init(_ changes: ChangeSet, _ images: OldValues) {
    self.changes = changes
    self.images = images
  }

  /// Nothing, at one version.
  package init(at version: Version) {
    self.init(ChangeSet(from: version, to: version), OldValues())
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
        count: 1,
        past: RecordedPast(met.changes, try OldValueDecoder.images(met.oldValues, met.changes))
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
