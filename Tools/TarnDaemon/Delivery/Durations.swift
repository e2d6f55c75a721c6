import Dispatch

extension Duration {
  /// At most a century, which fits.
  var interval: DispatchTimeInterval {
    .nanoseconds(
      Int(min(components.seconds, 3_155_760_000)) * 1_000_000_000
        + Int(components.attoseconds / 1_000_000_000))
  }

  /// In seconds, with two digits after the point.
  var rounded: String {
    let hundredths =
      components.seconds * 100 + components.attoseconds / 10_000_000_000_000_000
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
  }
}
