/// A cursor as a list of them shows it.
package struct KnownCursor: Sendable {
  package let number: UInt32
  package let record: CursorRecord
  /// Whether a living process has it.
  package let isHeld: Bool
}
