import TarnStore

/// How long a file keeps its change records without a cursor. A record is kept as long as it is
/// within all given limits.
///
/// Records are what ``Realm/versions``, ``Realm/changes(from:to:of:)``, undo, and cursors that
/// start at the oldest version read. The retention is stored in the file and holds
/// for all programs: see ``Realm/Configuration/retention`` and ``Realm/setRetention(_:)``.
public struct Retention: Hashable, Sendable {
  /// The age of the history: the sum of the times between commits. While a process has the file
  /// open, no setting of the clock changes it. Between processes that open the file one after the
  /// other the wall clock decides, and at most an hour counts. Nil for no limit.
  public var age: Duration?
  /// The number of newest versions to keep. Nil for no limit.
  public var versions: Int?
  /// The size of all records together, in bytes. Nil for no limit.
  public var bytes: Int?
  /// Whether records keep the values before each commit, which undo needs. Each commit then writes
  /// about twice as much.
  public var keepsOldValues: Bool

  /// Traps without any limit, and for one that is negative: a file that keeps all records grows
  /// without bound. For no retention at all pass nil to ``Realm/setRetention(_:)``.
  public init(
    age: Duration? = nil, versions: Int? = nil, bytes: Int? = nil, keepsOldValues: Bool = false
  ) {
    require(
      age != nil || versions != nil || bytes != nil,
      "A retention needs a limit: an age, a number of versions, or a number of bytes.")
    require(
      age ?? .zero >= .zero && versions ?? 0 >= 0 && bytes ?? 0 >= 0,
      "The limits of a retention must not be negative.")
    self.age = age
    self.versions = versions
    self.bytes = bytes
    self.keepsOldValues = keepsOldValues
  }

  init(_ limits: RetentionLimits, keepsOldValues: Bool) {
    age = limits.age.map { .microseconds(Int64(clamping: $0)) }
    versions = limits.versions.map { Int(clamping: $0) }
    bytes = limits.bytes.map { Int(clamping: $0) }
    self.keepsOldValues = keepsOldValues
  }

  var policy: RetentionPolicy {
    let limits = RetentionLimits(
      age: age?.wholeMicroseconds, versions: versions.map { UInt64($0) },
      bytes: bytes.map { UInt64($0) })
    return RetentionPolicy(limits, keepsOldValues: keepsOldValues)
  }
}

extension Duration {
  var wholeMicroseconds: UInt64 {
    let (seconds, attoseconds) = components
    let whole = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
    guard !whole.overflow else { return .max }
    let sum = whole.partialValue.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000_000))
    return sum.overflow ? .max : sum.partialValue
  }
}
