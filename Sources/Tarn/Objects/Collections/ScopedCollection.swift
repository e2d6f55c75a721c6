/// A collection whose observers can choose their scope, by key paths or a depth: one of objects, or
/// of values that represent objects. The library provides the conformances.
///
/// Groups, aggregates and projected properties do not conform: they do not show objects, so there
/// are no links to follow.
public protocol _ScopedCollection: _DeltaCollection {
  /// The type at which key paths begin.
  associatedtype _ScopeRoot
}

// Strings and typed key paths have separate overloads: `[\.name]` needs a root type, and `nil` and
// `[]` must mean strings. So the typed ones are disfavored. `observe` and `observeChanges` differ
// only in the types of their closures' parameters, which would be ambiguous under one name.
extension _ScopedCollection {
  /// Like `observe(_:)`, but an object counts as modified only if a property on one of the key
  /// paths was set: in the object, as in `"name"`, or behind links, collections and backlinks, as
  /// in `"owner.city.name"`. Insertions, deletions, moves, changes of section, and assignments to a
  /// key of a map are always reported. See <doc:Observing>.
  ///
  /// Nil and an empty array filter nothing. Each token has its own filter. Traps for a property
  /// that a class does not have, for values that are not objects, and in the same cases as
  /// `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (_Change) -> Void
  ) -> NotificationToken {
    _plainOrigin.scoped(to: _ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self))
      .observe(block)
  }

  /// The same for key paths of the elements' class, such as `\Dog.owner?.name`. A key path through
  /// a collection continues from an element at any index: `\Dog.siblings[0].name` means the names
  /// of all elements.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<_ScopeRoot>], _ block: @escaping (_Change) -> Void
  ) -> NotificationToken where _ScopeRoot: KeypathSortable {
    _plainOrigin.scoped(to: _ObservationScope(keyPaths)).observe(block)
  }

  /// Like `observe(_:)`, with changes counted up to `depth` links away (3 by default): an object
  /// counts as modified if a property was set in it, or in an object within that depth. With a
  /// depth of 0 only its own properties count, with `Int.max` every object that its links reach.
  /// The cost depends on the objects reached, not on the depth. Traps for a negative depth, and in
  /// the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (_Change) -> Void
  ) -> NotificationToken {
    _plainOrigin.scoped(to: _ObservationScope(depth: depth)).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(keyPaths:)` reports. Same
  /// preconditions.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    keyPaths: [String]?, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.scoped(to: _ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self))
      .observe(block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges(
    keyPaths: [PartialKeyPath<_ScopeRoot>],
    _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken where _ScopeRoot: KeypathSortable {
    _changeOrigin.scoped(to: _ObservationScope(keyPaths)).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(depth:)` reports.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.scoped(to: _ObservationScope(depth: depth)).observe(block)
  }

  /// The changes that `observeChanges(keyPaths:)` reports, for `for await`. Traps at once in the
  /// same cases; ``ChangeSequence`` says which code may iterate over it.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.scoped(to: _ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self)).changes
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func changes(
    keyPaths: [PartialKeyPath<_ScopeRoot>]
  ) -> ChangeSequence<ObservedChange<Self, _Delta>> where _ScopeRoot: KeypathSortable {
    _changeOrigin.scoped(to: _ObservationScope(keyPaths)).changes
  }

  /// The changes that `observeChanges(depth:)` reports, for `for await`. Traps at once in the same
  /// cases; ``ChangeSequence`` says which code may iterate over it.
  public func changes(depth: Int) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.scoped(to: _ObservationScope(depth: depth)).changes
  }
}

extension _ObservationScope {
  /// - Parameter type: the type at which the key paths begin.
  init<ScopeRoot>(keyPaths: [String]?, of type: ScopeRoot.Type) {
    guard let type = ScopeRoot.self as? any KeypathSortable.Type else {
      self.init(keyPaths: keyPaths)
      return
    }
    self.init(keyPaths: keyPaths?.map { type._underlyingPath($0) })
  }

  /// Traps for key paths that are not chains of stored properties.
  init<Root: KeypathSortable>(_ keyPaths: [PartialKeyPath<Root>]) {
    self.init(keyPaths: _names(of: keyPaths))
  }
}
