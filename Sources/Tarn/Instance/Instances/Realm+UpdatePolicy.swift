extension Realm {
  /// The treatment of an object whose primary key already exists.
  public enum UpdatePolicy: Int, Sendable {
    /// Traps.
    case error = 1
    /// Writes the properties whose values differ; observers receive only those.
    case modified = 3
    /// Writes every property, even if its value is equal.
    case all = 2
  }
}
