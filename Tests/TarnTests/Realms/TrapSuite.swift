import Testing

/// Tests of what a program is told before it stops.
protocol TrapSuite {}

extension TrapSuite {
  /// The process has stopped with that message.
  func expect(
    _ message: String, in result: ExitTest.Result?, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let result = try #require(result, sourceLocation: location)
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains(asBuilt(message)), "\(text)", sourceLocation: location)
  }
}

/// A message as this build gives it. Optimized programs have no names for the getters of key paths;
/// what `\Dog.age` is called there begins with the class and the type.
func asBuilt(_ message: String) -> String {
  #if DEBUG
    message
  #else
    message.hasPrefix("\\") ? String(message.drop { $0 != " " }) : message
  #endif
}
