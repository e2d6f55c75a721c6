/// A file of live objects, for one thread, queue, actor or scheduler.
///
/// Any number of processes may have the same file open. One writes at a time. Every other process
/// is woken within tens of microseconds after a commit, advances to the new version in one step in
/// its next turn, and its observers receive the exact changes.
///
/// A Realm is a handle on an instance that belongs to where it was opened. Opening the same file
/// there again returns the same instance. Everything that is read through an instance must be used
/// where the instance belongs; using it elsewhere traps.
public struct Realm: Equatable {
  let instance: Instance

  init(_ instance: Instance) { self.instance = instance }

  /// True if both are handles on the same instance. Threading: any.
  public static func == (a: Realm, b: Realm) -> Bool { a.instance === b.instance }
}

@available(*, unavailable, message: "it belongs to one thread or actor: open another Realm there")
extension Realm: Sendable {}

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
