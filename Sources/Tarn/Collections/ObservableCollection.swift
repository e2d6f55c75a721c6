/// A change that can report that no further changes come.
public protocol _FailingChange: SendableMetatype {
  /// The change that reports an error.
  static func error(_ error: any Error) -> Self
}

/// The common interface of collections for their observers. The library provides the conformances.
public protocol _ObservableCollection: ThreadConfined {
  /// The argument of observers.
  associatedtype _Change: _FailingChange
  /// The type at which key paths begin.
  associatedtype _Looked: RealmCollectionValue
  /// Calls `block` like `observe`, with the given scope.
  func _observe(_ look: _Look, _ block: @escaping (_Change) -> Void) -> NotificationToken
}

/// Collections whose changes are also reported with a delta.
public protocol _DeltaCollection: _ObservableCollection {
  /// The part of a change besides the collection.
  associatedtype _Delta
  /// The source of its changes. Traps for an unmanaged or invalidated collection.
  var _changeOrigin: _ChangeOrigin<ObservedChange<Self, _Delta>> { get }
}

extension RealmCollectionChange: _FailingChange {}
extension RealmMapChange: _FailingChange {}
extension ObservedChange: _FailingChange {}
