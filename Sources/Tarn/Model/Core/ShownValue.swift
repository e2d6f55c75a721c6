import TarnStore

/// A value for a message, and its type.
struct ShownValue {
  private static let lengthMax = 100

  let text: String?
  let type: String?

  /// A value in stored form, without a link.
  init(stored value: Value) {
    let content = value.plain
    text = content.map { Self.shortened("\($0)") }
    type = content.map { "\(Swift.type(of: $0))" }
  }

  init(text: String?, type: String?) {
    self.text = text
    self.type = type
  }

  /// The beginning and the end of a long text, such as a path.
  static func ends(of text: String) -> String {
    let scalars = text.unicodeScalars
    guard scalars.count > 2 * lengthMax else { return text }
    return "\(String(scalars.prefix(lengthMax)))…\(String(scalars.suffix(lengthMax)))"
  }

  /// In scalars, because a single character may have any number of them.
  static func shortened(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard
      let end = scalars.index(
        scalars.startIndex, offsetBy: lengthMax, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return "\(String(scalars[..<end]))…"
  }
}
