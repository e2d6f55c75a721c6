/// A change that can say that nothing comes any more.
public protocol _FailingChange: SendableMetatype {
  /// The change that says so.
  static func error(_ error: any Error) -> Self
}

/// What all kinds of collections have in common for those who observe them. The library provides
/// the conformances.
public protocol _ObservableCollection: ThreadConfined {
  /// What observers are called with.
  associatedtype _Change: _FailingChange
  /// Where key paths begin.
  associatedtype _Looked: RealmCollectionValue
  /// Calls `block` as `observe` does, for one who looks that far.
  func _observe(_ look: _Look, _ block: @escaping (_Change) -> Void) -> NotificationToken
}

/// Those whose changes are also told with all that is known of them.
public protocol _DeltaCollection: _ObservableCollection {
  /// What a change says beside the collection.
  associatedtype _Delta
  /// Where its changes come from. Traps for an unmanaged or invalidated collection.
  var _changeOrigin: _ChangeOrigin<ObservedChange<Self, _Delta>> { get }
}

extension RealmCollectionChange: _FailingChange {}
extension RealmMapChange: _FailingChange {}
extension ObservedChange: _FailingChange {}
