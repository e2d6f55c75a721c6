import TarnStore

/// How far a cursor may fall behind before it expires: its records are then removed, and its next
/// batch is ``FullResyncReason/expired``. Without it, an abandoned consumer would fill the disk.
public struct LagLimit: Hashable, Sendable {
  /// The age of the history, counted as for ``Retention/age``. Nil for no limit.
  public var age: Duration?
  /// The size of change records in bytes, including their old values. Nil for no limit.
  public var bytes: Int?

  /// Traps for negative limits.
  public init(age: Duration? = nil, bytes: Int? = nil) {
    require(
      age ?? .zero >= .zero && bytes ?? 0 >= 0,
      "A cursor's limits must not be negative.")
    self.age = age
    self.bytes = bytes
  }

  /// One gibibyte without a limit of age: the limit of a new cursor.
  public static let standard = LagLimit(bytes: 1 << 30)

  /// No limit: the file grows until the consumer returns.
  public static let none = LagLimit()

  init(_ limits: CursorLimits) {
    age = limits.age.map { .microseconds(Int64(clamping: $0)) }
    bytes = limits.bytes.map { Int(clamping: $0) }
  }

  var limits: CursorLimits {
    CursorLimits(age: age?.wholeMicroseconds, bytes: bytes.map { UInt64($0) })
  }
}
