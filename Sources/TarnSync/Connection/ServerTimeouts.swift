/// How long a connection waits for its server.
package struct ServerTimeouts: Equatable, Sendable {
  /// For a connection to each of the server's addresses; zero for no limit.
  package var connect = Duration.seconds(10)
  /// How long the server may neither accept nor send a byte while a statement runs; nil for no
  /// limit.
  ///
  /// A first download or a large upload may take hours, as long as bytes are transferred. A
  /// statement that sends much has more time, because the server may write it before it answers.
  package var answer: Duration? = .seconds(60)

  /// How long the server's machine may leave sent bytes unacknowledged.
  package var receipt = Duration.seconds(30)

  /// After this silence the server counts as unreachable, though its answer may still arrive.
  var notice: Duration { min(.seconds(10), (answer ?? .seconds(20)) / 2) }

  /// The number of bytes of a statement for which one second is added.
  private static let bytesASecond = 256 << 10

  /// How long the server may be silent after a statement of that size.
  func answer(toBytes count: Int) -> Duration? {
    answer.map { $0 + .seconds(count / Self.bytesASecond) }
  }
}

extension Duration {
  /// For people: "10 s", "0.3 s".
  var secondsText: String {
    let (seconds, fraction) = components
    let tenths = fraction / 100_000_000_000_000_000
    return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
  }
}
