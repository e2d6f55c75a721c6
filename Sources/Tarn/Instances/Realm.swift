/// A file of live objects, as one thread, queue, actor or scheduler sees it.
///
/// Any number of processes may have the same file open. One writes at a time. Every other process
/// learns of the commit within tens of microseconds, moves to the new version in one step in its
/// next turn, and its observers get the exact difference.
///
/// A Realm is a handle on an instance that belongs to where it was opened. Opening the same file
/// there again returns the same instance. Everything that comes from an instance must be used where
/// the instance belongs; using it elsewhere traps.
public struct Realm: Equatable {
  let instance: Instance

  init(_ instance: Instance) { self.instance = instance }

  /// True if both are handles on the same instance. Threading: any.
  public static func == (a: Realm, b: Realm) -> Bool { a.instance === b.instance }
}

@available(*, unavailable, message: "it belongs to one thread or actor: open another Realm there")
extension Realm: Sendable {}
