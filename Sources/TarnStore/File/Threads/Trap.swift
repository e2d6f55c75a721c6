/// Ends the program with a message, for a broken rule that the caller's signature cannot report.
///
/// All traps of the library use this function, because `precondition` and `preconditionFailure`
/// print nothing in optimized builds, and a program would end without a message. `fatalError`
/// prints in every build. The message names the thing, the rule and the way out.
@inline(never)
@usableFromInline
package func trap(
  _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  fatalError(message(), file: file, line: line)
}

/// Traps with the message unless the condition is true. Costs nothing if it is: the message is
/// created only for the trap.
@inlinable @inline(__always)
package func require(
  _ condition: Bool,
  _ message: @autoclosure () -> String = "internal error: an invariant does not hold",
  file: StaticString = #fileID, line: UInt = #line
) {
  if _slowPath(!condition) { trap(message(), file: file, line: line) }
}
