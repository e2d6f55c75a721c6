import TarnStore

/// Collections whose elements have positions, and that observe themselves rather than by another
/// collection.
protocol PositionedCollection: RealmCollection {
  /// Its content for observers. Traps for an unmanaged or invalidated collection.
  var observed: ObservedPositions<Self, Element> { get }
}

extension PositionedCollection {
  public var _plainOrigin: _ChangeOrigin<RealmCollectionChange<Self>> { observed.plainOrigin }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Self, CollectionDelta<Element>>> {
    observed.changeOrigin
  }
}

/// The object that a collection belongs to is in no Realm.
func trapUnobserved() -> Never {
  trap(
    "Only collections which are managed by a Realm support change notifications; add the "
      + "object that has this one first.")
}
