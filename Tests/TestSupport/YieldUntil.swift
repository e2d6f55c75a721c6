/// Lets other tasks run until a condition holds. A test that calls it has a time limit, which
/// cancels the task and so ends the wait.
package func yieldUntil(
  isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async throws {
  while try !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
