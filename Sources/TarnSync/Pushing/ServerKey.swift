import TarnStore

/// Primary keys in the server's form.
enum ServerKey {
  /// Why the server cannot have an object with a key, nor a link to it; nil if it can.
  ///
  /// A text in PostgreSQL cannot contain a NUL. Replacing it could make two keys equal.
  static func refusal(of key: Value, in described: ClassSchema) -> ServerError? {
    guard case .string(let text) = key, text.utf8.contains(0) else { return nil }
    let name = described.primaryKey.map { ".\(described[$0].name)" } ?? ""
    return ServerError(
      state: "22021", "send commits to the server",
      "the primary key \(described.name)\(name) \(key.predicateText) has a NUL in it, which"
        + " PostgreSQL's keys cannot have",
      hint: "Give the object another key.")
  }
}
