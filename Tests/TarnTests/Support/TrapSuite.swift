import Testing

/// A mistake of a program, and the message that must stop it. Reports show the name. The process
/// that makes the mistake looks it up by its name: nothing else is passed to that process.
struct TrapCase: Sendable {
  let name: String
  let message: String
  /// Makes the mistake. What it leaves behind lies in the folder of the shelter.
  let run: @Sendable (Shelter) async throws -> Void

  init(
    _ name: String, _ message: String, _ run: @escaping @Sendable (Shelter) async throws -> Void
  ) {
    (self.name, self.message, self.run) = (name, message, run)
  }
}

extension [TrapCase] {
  /// The one case of that name.
  func named(_ name: String) throws -> TrapCase {
    let found = filter { $0.name == name }
    try #require(found.count == 1, "There must be exactly one case with the name '\(name)'.")
    return found[0]
  }
}

/// Tests of what a program is told before it stops.
protocol TrapSuite {}

extension TrapSuite {
  /// The process has stopped with that message.
  func expect(
    _ message: String, in result: ExitTest.Result?, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let result = try #require(result, sourceLocation: location)
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains(message), "\(text)", sourceLocation: location)
  }
}
