/// An object or collection of a Realm. It belongs to one thread, queue or actor until it is frozen.
/// The library provides the conformances.
public protocol ThreadConfined: SendableMetatype {
  /// The Realm that this belongs to, nil if it is unmanaged.
  var realm: Realm? { get }
  /// True if it or its owner was deleted, or its Realm was invalidated.
  var isInvalidated: Bool { get }
  /// True if it never changes and any thread may read it; see ``freeze()``. Threading: any.
  var isFrozen: Bool { get }

  /// A frozen copy at the version of its Realm.
  ///
  /// A frozen object, and everything that is read through it, may be read on any thread, on several
  /// at the same time. It keeps its version in the file for as long as it is referenced, even after
  /// its Realm has ended. Freezing a frozen object returns it.
  ///
  /// In a write the copy has the state before the write. Traps if it is unmanaged, invalidated or
  /// was created in the open write, and on another thread than the Realm's.
  func freeze() -> Self

  /// The live counterpart of a frozen object, in the calling code's Realm; see ``Realm/thaw()``. It
  /// is at that Realm's version, without a refresh; nil if the object does not exist there. A live
  /// object is returned unchanged.
  ///
  /// Traps if it is unmanaged or invalidated.
  func thaw() -> Self?

  /// The counterpart in another Realm of the same file; nil if it does not exist there.
  func _counterpart(in realm: Realm) -> Self?
  /// Identifies it in every Realm of its file, to be passed on.
  func _threadReference() -> _ThreadReference
}
