/// Collections of which an observer can say how far it looks: those of objects, or of what stands
/// for objects. The library provides the conformances.
///
/// Groups, aggregates and projected properties are none: they show no objects behind which an
/// observer could look.
public protocol _ScopedCollection: _DeltaCollection {
  /// Where key paths begin.
  associatedtype _Looked
}

// The forms with texts and those with typed key paths are apart: `[\.name]` needs a type to begin
// from, and `nil` and `[]` are to mean texts. So the typed ones are disfavored. `observe` and
// `observeChanges` differ in what their closures get, of which alone no call could choose.
extension _ScopedCollection {
  /// Calls `block` as without key paths, but an object counts as modified only if something on one
  /// of the key paths was set: in the object, as in `"name"`, or behind links, collections and
  /// backlinks, as in `"owner.city.name"`. What comes, goes, moves, changes its section, or is set
  /// under the key of a map is always told. See <doc:Observing>.
  ///
  /// Nil and no key paths at all filter nothing. Each token has a filter of its own. Traps for a
  /// property that a class does not have, for values that are not objects, and where the call
  /// without key paths does.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (_Change) -> Void
  ) -> NotificationToken {
    _plainOrigin.looking(_Look(keyPaths: keyPaths, of: _Looked.self)).observe(block)
  }

  /// The same for key paths of the elements' class, such as `\Dog.owner?.name`. A key path through
  /// a collection continues from an element at any index: `\Dog.siblings[0].name` means the names
  /// of all elements.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<_Looked>], _ block: @escaping (_Change) -> Void
  ) -> NotificationToken where _Looked: KeypathSortable {
    _plainOrigin.looking(_Look(keyPaths)).observe(block)
  }

  /// Like `observe(_:)`, with changes counted up to `depth` links away (3 by default): an object
  /// counts as modified if a property was set in it, or in an object within that depth. With a
  /// depth of 0 only its own properties count, with `Int.max` every object that links reach. The
  /// cost depends on the objects, not on the number. Traps for a negative depth, and in the same
  /// cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (_Change) -> Void
  ) -> NotificationToken {
    _plainOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(keyPaths:)` reports. Same
  /// preconditions.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    keyPaths: [String]?, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(keyPaths: keyPaths, of: _Looked.self)).observe(block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges(
    keyPaths: [PartialKeyPath<_Looked>], _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken where _Looked: KeypathSortable {
    _changeOrigin.looking(_Look(keyPaths)).observe(block)
  }

  /// Like `observeChanges(_:)`, limited to the changes that `observe(depth:)` reports.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// What `observeChanges(keyPaths:)` would tell, for `for await`. Traps at once where that does;
  /// see ``ChangeSequence`` for who may go over it.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.looking(_Look(keyPaths: keyPaths, of: _Looked.self)).changes
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func changes(
    keyPaths: [PartialKeyPath<_Looked>]
  ) -> ChangeSequence<ObservedChange<Self, _Delta>> where _Looked: KeypathSortable {
    _changeOrigin.looking(_Look(keyPaths)).changes
  }

  /// What `observeChanges(depth:)` would tell, for `for await`. Traps at once where that does; see
  /// ``ChangeSequence`` for who may go over it.
  public func changes(depth: Int) -> ChangeSequence<ObservedChange<Self, _Delta>> {
    _changeOrigin.looking(_Look(depth: depth)).changes
  }
}

extension _Look {
  /// - Parameter type: where the key paths begin.
  init<Looked>(keyPaths: [String]?, of type: Looked.Type) {
    guard let type = Looked.self as? any KeypathSortable.Type else {
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
