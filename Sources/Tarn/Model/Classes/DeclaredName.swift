/// Names of a program's declarations as its author reads them: reflection has raw identifiers with
/// their backticks, and no-break spaces in place of spaces.
enum DeclaredName {
  /// The name of a property.
  ///
  /// - Parameter label: that of the property's wrapper: `_age` for `age`.
  static func property(ofWrapper label: String) -> String {
    String(plain(label).dropFirst())
  }

  /// The name of a class, without module and enclosing types.
  static func ofType(_ type: Any.Type) -> String { plain("\(type)") }

  private static func plain(_ text: String) -> String {
    let backtick = UInt8(ascii: "`")
    guard text.utf8.count > 2, text.utf8.first == backtick, text.utf8.last == backtick else {
      return text
    }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.dropFirst().dropLast() {
      // No raw identifier can have one.
      scalars.append(scalar == "\u{a0}" ? " " : scalar)
    }
    return String(scalars)
  }
}
