import Foundation

/// Keys of maps as names of JSON members, at any depth. A jsonb has no NUL in a text, so a key with
/// one is base64 there.
enum MapKey {
  private static let escape = "$base64:"

  static func name(_ key: String) -> String {
    guard key.utf8.contains(0) || isEscaped(key) else { return key }
    return escape + Data(key.utf8).base64EncodedString()
  }

  static func key(_ name: String) -> String {
    guard isEscaped(name) else { return name }
    let base64 = String(decoding: name.utf8.dropFirst(escape.utf8.count), as: UTF8.self)
    guard let data = Data(base64Encoded: base64) else { return name }
    return String(validating: data, as: UTF8.self) ?? name
  }

  private static func isEscaped(_ text: String) -> Bool { text.utf8.starts(with: escape.utf8) }
}
