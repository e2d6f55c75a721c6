/// Ends the process if the condition is false: a mistake in this library. Nothing in a file leads
/// here.
@inline(__always)
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { trap(message()) }
}

@inline(never)
private func trap(_ message: String) -> Never { fatalError("bug in RealmFiles: \(message)") }
