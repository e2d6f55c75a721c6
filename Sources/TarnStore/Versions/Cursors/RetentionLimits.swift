/// How long change records are kept. A record is kept as long as it is within all given limits;
/// without a limit nothing is kept.
package struct RetentionLimits: Hashable, Sendable {
  /// In microseconds of the history's age.
  package var age: UInt64?
  package var versions: UInt64?
  /// The size of all records together.
  package var bytes: UInt64?

  package init(age: UInt64? = nil, versions: UInt64? = nil, bytes: UInt64? = nil) {
    self.age = age
    self.versions = versions
    self.bytes = bytes
  }

  package var isEmpty: Bool { age == nil && versions == nil && bytes == nil }

  /// Whether these keep every record that the others keep.
  package func covers(_ others: RetentionLimits) -> Bool {
    if others.isEmpty { return true }
    if isEmpty { return false }
    func isLonger(_ mine: UInt64?, _ theirs: UInt64?) -> Bool {
      guard let mine else { return true }
      return theirs.map { mine >= $0 } ?? false
    }
    return isLonger(age, others.age) && isLonger(versions, others.versions)
      && isLonger(bytes, others.bytes)
  }

  /// - Parameters:
  ///   - note: the note of the version; nil for a commit of an older library, which is older than
  ///     any limit of time or bytes.
  ///   - now: the newest version, with its note.
  func keeps(
    _ version: Version, _ note: CommitNote?, now: (version: Version, note: CommitNote?)
  ) -> Bool {
    if isEmpty { return false }
    if let versions, now.version.rawValue &- version.rawValue >= versions { return false }
    if age == nil, bytes == nil { return true }
    guard let note, let newest = now.note else { return false }
    // The sums restart where a record could not be read.
    if let age, newest.age > note.age, newest.age - note.age > age { return false }
    if let bytes, newest.logBytes > note.logBytes, newest.logBytes - note.logBytes >= bytes {
      return false
    }
    return true
  }
}
