/// How long a connection waits for its server.
package struct ServerTimeouts: Equatable, Sendable {
  /// For a connection to each of the server's addresses; zero for any time.
  package var connect = Duration.seconds(10)
  /// How long the server may take no byte and send none while a statement runs; nil for any time.
  ///
  /// A first download or a large upload may take hours, as long as bytes move. A statement that
  /// sends much has more time, because the server may write it before it answers.
  package var answer: Duration? = .seconds(60)

  /// How long the server's machine may leave sent bytes without a receipt.
  package var receipt = Duration.seconds(30)

  /// After so much silence the server counts as away, though its answer may still come.
  var notice: Duration { min(.seconds(10), (answer ?? .seconds(20)) / 2) }

  /// How many bytes of a statement get another second.
  private static let bytesASecond = 256 << 10

  /// How long the server may be silent after a statement of so many bytes.
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
