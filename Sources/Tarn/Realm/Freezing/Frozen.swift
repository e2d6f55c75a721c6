/// A frozen object or collection in a form that the compiler lets pass to other actors and tasks.
///
/// ```swift
/// let dog = Frozen(realm.objects(Dog.self)[0])
/// Task.detached { print(dog.name, dog.value.owner?.name ?? "-") }
/// ```
///
/// Members are read through it, and everything that they lead to is frozen, too. The classes
/// themselves cannot be `Sendable`, because live objects have the same classes. It keeps its
/// version in the file; see ``ThreadConfined/freeze()``.
///
/// Only stored properties are frozen: do not change other variables of a class through it.
@dynamicMemberLookup
public struct Frozen<Content: ThreadConfined>: @unchecked Sendable {
  // because: it never changes, and any number of threads may read what is frozen.
  /// The frozen object or collection.
  public let value: Content

  /// Freezes an object or a collection. A frozen one is kept as it is. Traps in the same cases as
  /// ``ThreadConfined/freeze()``.
  public init(_ value: Content) { self.value = value.freeze() }

  /// A member of the frozen object or collection.
  public subscript<Member>(dynamicMember member: KeyPath<Content, Member>) -> Member {
    value[keyPath: member]
  }

  /// The live counterpart in the calling code's Realm; see ``ThreadConfined/thaw()``.
  public func thaw() -> Content? { value.thaw() }
}

extension Frozen: Equatable where Content: Equatable {}
extension Frozen: Hashable where Content: Hashable {}
