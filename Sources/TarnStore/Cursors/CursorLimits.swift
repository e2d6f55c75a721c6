/// How far a cursor may lag behind; or how much is kept behind it. Nil is no limit.
package struct CursorLimits: Hashable, Sendable {
  /// In microseconds of the history's age.
  package var age: UInt64?
  /// In bytes of change records.
  package var bytes: UInt64?

  package init(age: UInt64? = nil, bytes: UInt64? = nil) {
    self.age = age
    self.bytes = bytes
  }

  /// A consumer that never comes back must not fill the disk.
  package static let standard = CursorLimits(bytes: 1 << 30)
}
