/// How long change records are kept. A record is kept while it is within every limit that is given;
/// without any limit nothing is kept.
package struct RetentionLimits: Hashable, Sendable {
  /// In microseconds of the history's age.
  package var age: UInt64?
  package var versions: UInt64?
  /// Of the records together.
  package var bytes: UInt64?
  /// Whether the records keep the values before each commit.
  package var keepsOldValues: Bool

  package init(
    age: UInt64? = nil, versions: UInt64? = nil, bytes: UInt64? = nil,
    keepsOldValues: Bool = false
  ) {
    self.age = age
    self.versions = versions
    self.bytes = bytes
    self.keepsOldValues = keepsOldValues
  }

  package var isEmpty: Bool { age == nil && versions == nil && bytes == nil }

  /// What keeps at least as much as either.
  package func union(_ other: RetentionLimits) -> RetentionLimits {
    if isEmpty { return other }
    if other.isEmpty { return self }
    func longer(_ a: UInt64?, _ b: UInt64?) -> UInt64? {
      if let a, let b { max(a, b) } else { nil }
    }
    let both = RetentionLimits(
      age: longer(age, other.age), versions: longer(versions, other.versions),
      bytes: longer(bytes, other.bytes), keepsOldValues: keepsOldValues || other.keepsOldValues)
    // Limits of different kinds have no common one that is still a limit: the new ones are kept.
    return both.isEmpty
      ? RetentionLimits(
        age: other.age, versions: other.versions, bytes: other.bytes,
        keepsOldValues: both.keepsOldValues) : both
  }

  /// - Parameters:
  ///   - note: that of the version; nil for a commit of an older library, which is older than any
  ///     limit of time or bytes.
  ///   - now: the newest version, with its note.
  func keeps(
    _ version: Version, _ note: CommitNote?, now: (version: Version, note: CommitNote?)
  ) -> Bool {
    if isEmpty { return false }
    if let versions, now.version.rawValue &- version.rawValue >= versions { return false }
    if age == nil, bytes == nil { return true }
    guard let note, let newest = now.note else { return false }
    // They begin again where a record could not be read.
    if let age, newest.age > note.age, newest.age - note.age > age { return false }
    if let bytes, newest.logBytes > note.logBytes, newest.logBytes - note.logBytes >= bytes {
      return false
    }
    return true
  }
}
