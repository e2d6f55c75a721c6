/// The change records that a file keeps without a cursor, and the values in them. A record is kept
/// as long as any of the limits keeps it: limits of different programs need not be comparable.
package struct RetentionPolicy: Hashable, Sendable {
  /// The maximum number of limits, none of which covers another.
  package static let limitsMax = 8

  /// In a fixed order; none of them is empty or covers another.
  package private(set) var limits: [RetentionLimits] = []
  /// Whether the records keep the values before each commit.
  package var keepsOldValues: Bool

  package init(_ limits: RetentionLimits..., keepsOldValues: Bool = false) {
    self.init(limits, keepsOldValues: keepsOldValues)
  }

  package init(_ limits: [RetentionLimits], keepsOldValues: Bool) {
    self.keepsOldValues = keepsOldValues
    for one in limits { add(one) }
    if self.limits.isEmpty { self.keepsOldValues = false }
  }

  package var isEmpty: Bool { limits.isEmpty }

  /// The policy that keeps each record that either keeps.
  package func union(_ other: RetentionPolicy) -> RetentionPolicy {
    RetentionPolicy(
      limits + other.limits, keepsOldValues: keepsOldValues || other.keepsOldValues)
  }

  private mutating func add(_ one: RetentionLimits) {
    if one.isEmpty || limits.contains(where: { $0.covers(one) }) { return }
    limits.removeAll { one.covers($0) }
    func order(_ limits: RetentionLimits) -> [UInt64] {
      [limits.age ?? .max, limits.versions ?? .max, limits.bytes ?? .max]
    }
    let index = limits.firstIndex { order(one).lexicographicallyPrecedes(order($0)) }
    limits.insert(one, at: index ?? limits.endIndex)
  }

  /// - Parameters:
  ///   - note: the note of the version; nil for a commit of an older library.
  ///   - now: the newest version, with its note.
  func keeps(
    _ version: Version, _ note: CommitNote?, now: (version: Version, note: CommitNote?)
  ) -> Bool {
    limits.contains { $0.keeps(version, note, now: now) }
  }
}

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
