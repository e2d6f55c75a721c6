import TarnStore

/// How far a cursor may fall behind before it expires: then its records are removed, and its next
/// batch is ``StartAnewReason/expired``. A consumer that never comes back must not fill the disk.
public struct LagLimit: Hashable, Sendable {
  /// By the age of the history, counted as for ``Retention/age``. Nil is no limit.
  public var age: Duration?
  /// In bytes of change records, with the old values in them. Nil is no limit.
  public var bytes: Int?

  /// Traps for negative limits.
  public init(age: Duration? = nil, bytes: Int? = nil) {
    require(
      age ?? .zero >= .zero && bytes ?? 0 >= 0,
      "A cursor's limits must not be negative.")
    self.age = age
    self.bytes = bytes
  }

  /// A gibibyte, and no limit of age: what a new cursor has.
  public static let standard = LagLimit(bytes: 1 << 30)

  /// No limit: the file grows until the consumer comes back.
  public static let none = LagLimit()

  init(_ limits: CursorLimits) {
    age = limits.age.map { .microseconds(Int64(clamping: $0)) }
    bytes = limits.bytes.map { Int(clamping: $0) }
  }

  var limits: CursorLimits {
    CursorLimits(age: age?.wholeMicroseconds, bytes: bytes.map { UInt64($0) })
  }
}
