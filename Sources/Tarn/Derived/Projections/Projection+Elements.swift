import TarnStore

// Projections as elements of results: each represents its object.

extension Projection: RealmCollectionValue {
  /// Traps: a projection is not stored.
  public static var _elementDescription: _ColumnDescription {
    trap("'\(Self.self)' is a projection, which cannot be stored. Store its objects.")
  }

  public func _boxElement() -> _BoxedValue { rootObject._boxElement() }

  public static func _unboxElement(_ boxed: _BoxedValue) -> Self? {
    (boxed.object as? Root).map { Self(projecting: $0) }
  }

  @inlinable public static var _isObject: Bool { true }

  public static func _element(of object: ObjectBase) -> Self {
    Self(projecting: unsafe unsafeDowncast(object, to: Root.self))
  }
}

extension Projection: KeypathSortable {
  public static var _objectType: ObjectBase.Type { Root.self }

  public static func _properties(
    along keyPath: AnyKeyPath, throughElements: Bool
  ) throws -> _PropertyPath {
    guard let keyPath = keyPath as? PartialKeyPath<Self> else {
      trap("internal error: a key path of another class than \(Self.self)")
    }
    return _PropertyPath(
      steps: try Tracer.steps(of: keyPath, throughElements: throughElements) { (root: Root) in
        Self(projecting: root)
      })
  }

  public static func _propertyRead(by keyPath: AnyKeyPath) -> _PropertyPath? {
    guard let keyPath = keyPath as? PartialKeyPath<Self> else { return nil }
    return Tracer.onlyPropertyRead(by: keyPath) { (root: Root) in Self(projecting: root) }
      .map { _PropertyPath(steps: $0) }
  }

  public static func _underlyingPath(_ keyPath: String) -> String {
    ProjectionLayout.of(Self.self).path(ofLabel: keyPath) ?? keyPath
  }
}

extension RealmCollection where Element: ProjectionObservable {
  /// The projections of the objects that match a further condition, which is on the objects.
  ///
  /// ```swift
  /// realm.objects(PersonCard.self).where { $0.firstName == "Ida" }
  /// ```
  ///
  /// Traps for an invalidated collection.
  public func `where`(
    _ condition: (Query<Element.Root>) -> Query<Bool>
  ) -> Results<Element> {
    let base = _derivation
    let predicate = condition(Query<Element.Root>.root(in: base.core)).predicate
    return Results(base.core, base.spec.filtered(predicate), createdInWrite: base.createdInWrite)
  }
}

extension RealmCollection where Element: ProjectionObservable {
  /// The position of the first projection whose object meets a condition, or nil. Traps for an
  /// invalidated collection.
  public func index(matching condition: (Query<Element.Root>) -> Query<Bool>) -> Int? {
    let base = _derivation
    return Results<Element>(base.core, base.spec, createdInWrite: base.createdInWrite).index(
      of: condition(Query<Element.Root>.root(in: base.core)).predicate)
  }

  /// The same for a filter string. Traps in the same cases as `filter(_:_:)`.
  public func index(matching format: String, _ arguments: Any?...) -> Int? {
    let base = _derivation
    do throws(Realm.Error) {
      let condition = try FilterText(format, arguments).predicate(on: base.spec, base.core)
      return Results<Element>(base.core, base.spec, createdInWrite: base.createdInWrite).index(
        of: condition)
    } catch {
      trap(error.message)
    }
  }
}

extension Realm {
  /// Projections of all objects of a class, in the order of `objects(_:)` for that class. Filter
  /// and sort them by the objects' properties. Traps if the class is not in the Realm's schema.
  public func objects<Element: ProjectionObservable>(
    _ type: Element.Type
  ) -> Results<Element> where Element.Root: Object {
    core.checkThread()
    return Results(core, QuerySpec(Element.Root.self))
  }
}
