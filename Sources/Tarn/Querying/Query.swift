import TarnStore

/// A condition on objects under construction: what the closure of `where` is given.
///
///     dogs.where { $0.age > 3 && $0.mother.name.starts(with: "B") }
///
/// `$0.age` stands for the property; comparing it gives a `Query<Bool>`, and those combine with
/// `&&`, `||` and `!`. A `Bool` property is a condition by itself. Links are followed without a
/// question mark; a condition beyond a link that is nil is false, except `== nil` and `!=` with a
/// value. Values are taken when the closure runs; building a condition touches no Realm.
///
/// A property that is not `@Persisted` traps: the file knows nothing of it.
@dynamicMemberLookup
public struct Query<T> {
  enum Content {
    /// A property, reached through links, by columns' names; empty for the object itself.
    case path([String])
    case condition(Predicate)
    /// Something of some element of a collection: the path to that, and on from an element.
    case any([String])
    /// The number of a collection's elements.
    case count([String])
  }
  let content: Content

  init(_ content: Content) { self.content = content }
  init(_ condition: Predicate) { content = .condition(condition) }

  /// The object that the condition is on.
  static var root: Query<T> { Query(.path([])) }

  var operand: Operand {
    switch content {
    case .path(let path) where !path.isEmpty: .path(path)
    case .any, .count:
      trap("A condition on a collection compares with a value, not with another property")
    default: trap("Compare a property of the object, not the object or another condition")
    }
  }

  /// The property that is a collection.
  var pathOfCollection: [String] {
    guard case .path(let path) = content else {
      trap("Conditions do not reach through two collections: filter in Swift instead")
    }
    return path
  }

  private func appending<Root: ObjectBase, V>(_ keyPath: KeyPath<Root, V>) -> Query<V> {
    switch content {
    case .path(let path): Query<V>(.path(path + names(of: keyPath)))
    case .any(let path): Query<V>(.any(path + names(of: keyPath)))
    case .condition, .count: trap("A condition has no properties")
    }
  }

  /// A property of some element of the collection that this is.
  func appending<Root: ObjectBase, V>(toElementsOf keyPath: KeyPath<Root, V>) -> Query<V> {
    Query<V>(.any(pathOfCollection + names(of: keyPath)))
  }

  private func names<Root: ObjectBase, V>(of keyPath: KeyPath<Root, V>) -> [String] {
    Tracer.steps(of: keyPath, for: .condition).map(\.columnName)
  }
}

extension Query where T: ObjectBase {
  /// A property of the object.
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> { appending(member) }
}

extension Query {
  /// A property of the object that a link points to.
  public subscript<V, W: ObjectBase>(dynamicMember member: KeyPath<W, V>) -> Query<V>
  where T == W? { appending(member) }
}

extension Query where T == Bool {
  /// The finished condition. A Bool property alone means that it is true.
  var predicate: Predicate {
    switch content {
    case .condition(let predicate): predicate
    case .path(let path): .comparison(Comparison(.path(path), .equal, .value(.bool(true))))
    case .any(let path):
      .collection(CollectionCondition(path, .any(.equal, .value(.bool(true)), [])))
    case .count: trap("A number of elements is no condition")
    }
  }

  public static prefix func ! (query: Query<Bool>) -> Query<Bool> { Query(!query.predicate) }
  public static func && (a: Query<Bool>, b: Query<Bool>) -> Query<Bool> {
    Query(a.predicate && b.predicate)
  }
  public static func || (a: Query<Bool>, b: Query<Bool>) -> Query<Bool> {
    Query(a.predicate || b.predicate)
  }
}

/// What `contains`, `starts(with:)` and `ends(with:)` disregard.
public struct StringOptions: OptionSet, Sendable {
  /// The bits of the options.
  public let rawValue: UInt8
  /// A set of those options.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Upper and lower case are the same.
  public static let caseInsensitive = StringOptions(rawValue: 1)

  var store: TarnStore.StringOptions { contains(.caseInsensitive) ? .caseInsensitive : [] }
}
