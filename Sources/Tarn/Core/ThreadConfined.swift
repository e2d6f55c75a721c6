/// What belongs to a Realm, and so to one thread, queue or actor until it is frozen: objects and
/// collections. The library provides the conformances.
public protocol ThreadConfined: SendableMetatype {
  /// The Realm that this belongs to, nil if it is unmanaged.
  var realm: Realm? { get }
  /// True if it or its owner was deleted, or its Realm was invalidated.
  var isInvalidated: Bool { get }
  /// True if it never changes and any thread may read it; see ``freeze()``. Threading: any.
  var isFrozen: Bool { get }

  /// A frozen copy at the version that its Realm shows.
  ///
  /// Anything frozen, and everything that is read through it, may be read on any thread, on several
  /// at the same time. It keeps its version in the file for as long as it is referenced, whatever
  /// becomes of the Realm that it came from. Freezing something frozen returns the same thing.
  ///
  /// In a write the copy is as it was before the write. Traps if it is unmanaged, invalidated or
  /// was created in the open write, and on another thread than the Realm's.
  func freeze() -> Self

  /// The live counterpart of something frozen, in the Realm that belongs to the calling code; see
  /// ``Realm/thaw()``. It is as that Realm shows it, without a refresh; nil if the object does not
  /// exist there. Something live is returned as it is.
  ///
  /// Traps if it is unmanaged or invalidated.
  func thaw() -> Self?

  /// The same as another Realm of the same file shows it; nil if it does not exist there.
  func _counterpart(in realm: Realm) -> Self?
  /// What it is to every Realm of its file, to be passed on.
  func _passage() -> _Passage
}
