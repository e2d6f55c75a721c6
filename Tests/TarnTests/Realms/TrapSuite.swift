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
    #expect(text.contains(message), "\(text)", sourceLocation: location)
  }
}
