/// A value of a configuration file, and where it begins.
struct YAMLNode: Sendable {
  enum Content: Sendable {
    /// Quoted text is always text; plain text may also be a number or a bool.
    case scalar(String, isQuoted: Bool)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  struct Entry: Sendable {
    let name: String
    let line: Int
    let value: YAMLNode
  }

  let content: Content
  /// Counted from 1.
  let line: Int

  /// Whether it is plain text that stands for no value.
  var isNothing: Bool {
    if case .scalar(let text, isQuoted: false) = content {
      return ["", "~", "null", "Null", "NULL"].contains(text)
    }
    return false
  }

  /// What it is, for messages.
  var kind: String {
    switch content {
    case .scalar("", isQuoted: false): "nothing"
    case .scalar(let text, _): "'\(text)'"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
