/// Names of a program's declarations as its author reads them: reflection has raw identifiers with
/// their backticks.
enum DeclaredName {
  /// The name of a property.
  ///
  /// - Parameter label: that of the property's wrapper: `_age` for `age`.
  static func property(ofWrapper label: String) -> String {
    String(withoutBackticks(label).dropFirst())
  }

  /// The name of a class, without module and enclosing types.
  static func ofType(_ type: Any.Type) -> String { String(withoutBackticks("\(type)")) }

  private static func withoutBackticks(_ text: String) -> Substring {
    let backtick = UInt8(ascii: "`")
    guard text.utf8.count > 2, text.utf8.first == backtick, text.utf8.last == backtick else {
      return text[...]
    }
    return text[text.utf8.index(after: text.startIndex)..<text.utf8.index(before: text.endIndex)]
  }
}
