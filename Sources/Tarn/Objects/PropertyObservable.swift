/// The common interface of objects and projections for observers of their properties. The library
/// provides the conformances.
public protocol _PropertyObservable: AnyObject, ThreadConfined, KeypathSortable {
  /// Calls `block` like `observe(keyPaths:)`, for code that does not know the type.
  func _observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<any _PropertyObservable>) -> Void
  ) -> NotificationToken
}

extension ObjectChange: _FailingChange {}

extension ObjectChange {
  /// The same change for a type that represents the object.
  func map<Other>(_ transform: (T) -> Other) -> ObjectChange<Other> {
    switch self {
    case .error(let error): .error(error)
    case .deleted: .deleted
    case .change(let object, let properties): .change(transform(object), properties)
    }
  }
}
