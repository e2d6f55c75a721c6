import TarnStore

/// A condition on objects under construction: the argument of the closure of `where`.
///
///     dogs.where { $0.age > 3 && $0.mother.name.starts(with: "B") }
///
/// `$0.age` is the property; comparing it gives a `Query<Bool>`, and those combine with `&&`, `||`
/// and `!`. A `Bool` property is a condition by itself. Links are followed without a question mark;
/// through a nil link every property is nil, and <doc:Queries> describes how that compares with
/// values and with nil. A condition on a collection, or on backlinks, is true if some element meets
/// it. Values are captured when the closure runs; building a condition reads no property.
///
/// Comparing with an object of another Realm, or with a deleted one, traps.
///
/// A property that is not `@Persisted` traps: it is not in the file.
@dynamicMemberLookup
public struct Query<T> {
  enum Content {
    /// A property, reached through links, by columns' names; empty for the queried object itself.
    case path(Path)
    case condition(Predicate)
    /// A value of some element of a collection: the path to the collection, and on from an element.
    case any(Path)
    /// A number computed from a collection. Its path may end in a property of the elements.
    case figure(Path, Figure)
    /// The number of elements of some collection among those at the end of a path through another.
    case anyCount(Path)
  }
  let content: Content
  /// The collection whose elements this tests, if it tests elements of only one.
  var scope: ElementScope?
  /// The store that compared objects must belong to; nil if unknown.
  let storeOfObjects: ObjectIdentifier?

  init(_ content: Content, of scope: ElementScope? = nil, in store: ObjectIdentifier? = nil) {
    self.content = content
    self.scope = scope
    storeOfObjects = store
  }
  init(_ condition: Predicate, of scope: ElementScope? = nil) {
    self.init(.condition(condition), of: scope)
  }

  /// The object that the condition is on.
  static var root: Query<T> { Query(.path([])) }
  /// The same, for an object of a Realm.
  static func root(in core: RealmCore) -> Query<T> {
    Query(.path([]), in: ObjectIdentifier(core.store))
  }

  var operand: Operand {
    switch content {
    case .path(let path): .path(path)
    case .anyCount:
      trap("Compare a number of elements inside another collection only with a number.")
    case .any, .figure:
      trap(
        "Compare an aggregate with a value or a property, not with elements or with another "
          + "aggregate.")
    case .condition:
      trap("Compare a property of the object, not another condition")
    }
  }

  /// The property that is a collection, which may belong to an element of another.
  var pathOfCollection: Path {
    switch content {
    case .path(let path), .any(let path): path
    case .condition, .figure, .anyCount: trap("A condition has no elements")
    }
  }

  private func appending<Root: ObjectBase, V>(_ keyPath: KeyPath<Root, V>) -> Query<V> {
    appending(path(of: keyPath))
  }

  /// The property at the end of this path from here.
  func appending<V>(_ more: Path) -> Query<V> {
    switch content {
    case .path(let path): Query<V>(.path(path.on(to: more)), of: scope, in: storeOfObjects)
    case .any(let path): Query<V>(.any(path.on(to: more)), of: scope, in: storeOfObjects)
    case .condition, .figure, .anyCount: trap("A condition has no properties, elements or types")
    }
  }

  /// The same property with another type.
  func retyped<V>() -> Query<V> { appending([]) }

  /// Some element of this collection, or the property at the end of the path in it.
  ///
  /// - Parameter part: the name of the keys or the values of a map.
  func element<V>(_ path: Path = [], of part: Path = []) -> Query<V> {
    let collection = pathOfCollection + part
    let scope = if case .path = content { ElementScope(collection) } else { scope?.and(collection) }
    return Query<V>(.any(collection + path), of: scope, in: storeOfObjects)
  }

  /// A property of some element of this collection.
  func appending<Root: ObjectBase, V>(toElementsOf keyPath: KeyPath<Root, V>) -> Query<V> {
    element(path(of: keyPath))
  }

  private func path<Root: ObjectBase, V>(of keyPath: KeyPath<Root, V>) -> Path {
    Tracer.steps(of: keyPath, for: .condition).map(\.pathStep)
  }
}

extension Path {
  /// The path extended by another.
  fileprivate func on(to more: Path) -> Path {
    if let objection = PathLimit.objection(toNames: count + more.count) {
      trap("Invalid condition: \(objection).")
    }
    return self + more
  }
}

/// A class of objects. The requirement is checked where a property of a value is read: a superclass
/// requirement is not (Swift 6.3), so that a string would be accepted as an object.
public protocol _ObjectClass: ObjectBase {}
extension ObjectBase: _ObjectClass {}

extension Query where T: _ObjectClass {
  /// A property of the object.
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> { appending(member) }
}

extension Query {
  /// A property of a link's target.
  public subscript<V, W: _ObjectClass>(dynamicMember member: KeyPath<W, V>) -> Query<V>
  where T == W? { appending(member) }
}

extension Query where T == Bool {
  /// The finished condition. A Bool property alone means that it is true.
  var predicate: Predicate {
    switch content {
    case .condition(let predicate): predicate
    case .path(let path): .comparison(Comparison(.path(path), .equal, .value(.bool(true))))
    case .any(let path):
      .any(path, .equal, .value(.bool(true)))
    case .figure, .anyCount: trap("A number of elements is not a condition")
    }
  }

  public static prefix func ! (query: Query<Bool>) -> Query<Bool> {
    Query(!query.predicate, of: query.scope)
  }
  public static func && (a: Query<Bool>, b: Query<Bool>) -> Query<Bool> {
    Query(a.predicate && b.predicate, of: ElementScope(a.scope, b.scope))
  }
  public static func || (a: Query<Bool>, b: Query<Bool>) -> Query<Bool> {
    Query(a.predicate || b.predicate, of: ElementScope(a.scope, b.scope))
  }
}

// A condition consists of names and values; its objects are found when it is evaluated.
extension Query: Sendable {}

/// The differences that `contains`, `starts(with:)` and `ends(with:)` ignore.
public struct StringOptions: OptionSet, Sendable {
  /// The bits of the options.
  public let rawValue: UInt8
  /// A set of those options.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Ignores case, by the case folding of Unicode: "straße" equals "STRASSE". It is independent of
  /// any language: a dotless ı is a separate letter.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// Ignores diacritics: "Élan" equals "Elan". Only accents are ignored: ø is not o, and ł not l.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)

  var store: TarnStore.StringOptions { TarnStore.StringOptions(rawValue: rawValue & 3) }
}
