/// How far a cursor may fall behind, or how much is kept behind it. Nil for no limit.
package struct CursorLimits: Hashable, Sendable {
  /// In microseconds of the history's age.
  package var age: UInt64?
  /// In bytes of change records.
  package var bytes: UInt64?

  package init(age: UInt64? = nil, bytes: UInt64? = nil) {
    self.age = age
    self.bytes = bytes
  }

  /// Without it, an abandoned consumer would fill the disk.
  package static let standard = CursorLimits(bytes: 1 << 30)
}
