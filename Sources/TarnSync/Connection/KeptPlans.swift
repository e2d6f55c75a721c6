/// The prepared statements of a connection, whose plans the server process caches, by name.
struct KeptPlans {
  private static let most = 200

  /// Whether there are any at all.
  var isUsed = false
  private var names: [String: String] = [:]
  private var count = 0

  /// - Returns: the name of a statement, and whether the server does not have it yet; nil for a
  ///   statement whose plan is not cached.
  mutating func plan(for text: String) -> (name: String, isNew: Bool)? {
    guard isUsed else { return nil }
    if let name = names[text] { return (name, false) }
    guard names.count < Self.most else { return nil }
    // A name is not used again after a failure: the server may have it.
    count += 1
    let name = "tarn_\(count)"
    names[text] = name
    return (name, true)
  }

  /// Drops all names after a failure. After many failures no plans are cached any more, because the
  /// server may still have the former ones.
  mutating func forgetAll() {
    names = [:]
    if count > 10 * Self.most { isUsed = false }
  }
}
