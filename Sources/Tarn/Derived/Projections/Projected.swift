import TarnStore

/// Marks a property of a ``Projection`` as one of the object's: `@Projected(\Person.firstName)`.
///
/// Reading returns the object's value and assigning sets it, with the same traps. A key path may
/// pass links (`\Person.address?.city`): reading then returns nil if one of them is nil, and
/// assigning does nothing, like `?.`. It may end in a property of the objects in a list or set
/// (`\Person.friends.projectTo.firstName`), which is read-only: assigning traps.
///
/// A computed property (`\Person.fullName`) is computed at each read, and assigned by its setter;
/// without one, assigning traps. It has no place in key paths for sorting and observing; see
/// <doc:ClassProjections>.
@propertyWrapper
public struct Projected<Root: ObjectBase, Value: _Projectable> {
  /// The property of the object.
  public let _keyPath: KeyPath<Root, Value>
  /// The offset of the column in the object, if the property is the object's own; less than 0 for a
  /// computed property, else 0. Written by ProjectionLayout.
  public var _columnOffset: Int

  /// A property of the object.
  @inlinable public init(_ projectedKeyPath: KeyPath<Root, Value>) {
    _keyPath = projectedKeyPath
    _columnOffset = 0
  }

  @available(
    *, unavailable,
    message: """
      A collection reached through an optional link cannot be projected. Project the link, or \
      compute it: var names: ProjectedCollection<String>? { rootObject.owner?.dogs.projectTo.name }
      """
  )
  /// Never called: there would be nothing to return instead of a missing collection.
  public init(_ projectedKeyPath: KeyPath<Root, Value?>) where Value: ThreadConfined {
    trap("A collection reached through an optional link cannot be projected.")
  }

  /// Never called: inside classes the subscript below is used instead.
  @available(*, unavailable, message: "@Projected is for properties of Projection classes")
  public var wrappedValue: Value {
    get { trap("@Projected is for properties of Projection classes") }
    set { trap("@Projected is for properties of Projection classes") }
  }

  // Always inline for the same reason as Persisted.
  /// Called by the compiler for each read and write of a property.
  @inlinable
  public static subscript<P: Projection<Root>>(
    _enclosingInstance projection: P,
    wrapped wrapped: ReferenceWritableKeyPath<P, Value>,
    storage storage: ReferenceWritableKeyPath<P, Self>
  ) -> Value {
    @inline(__always) get {
      let root = projection.rootObject
      let offset = projection[keyPath: storage]._columnOffset
      guard offset > 0, let context = unsafe root._context else {
        if root._state.contains(.tracing) { root._noteFront(isComputed: offset < 0) { wrapped } }
        return root[keyPath: projection[keyPath: storage]._keyPath]
      }
      unsafe root._validate(context)
      return Value._load(root, root._columnNumber(at: offset))
    }
    @inline(__always) set {
      let root = projection.rootObject
      let offset = projection[keyPath: storage]._columnOffset
      guard offset > 0, let context = unsafe root._context else {
        return projection._assign(newValue, projection[keyPath: storage]._keyPath)
      }
      unsafe root._validate(context)
      Value._store(root, root._columnNumber(at: offset), newValue)
    }
  }
}

extension ObjectBase {
  /// The column number that a property's wrapper holds.
  @inlinable @inline(__always)
  final func _columnNumber(at offset: Int) -> UInt16 {
    unsafe Unmanaged.passUnretained(self).toOpaque().load(fromByteOffset: offset, as: UInt16.self)
  }
}

extension Projection {
  /// Assigns to a property that is not the object's own, or is one of an unmanaged object.
  @inline(never) @usableFromInline
  final func _assign<Value>(_ value: Value, _ keyPath: KeyPath<Root, Value>) {
    if let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Value> {
      rootObject[keyPath: keyPath] = value
      return
    }
    let property = layout.properties.first { $0.keyPath == keyPath }
    if let property, property.isComputed {
      trap(
        "'\(type(of: self)).\(property.label)' projects a computed property without a setter. Set "
          + "the properties that it is computed from.")
    }
    guard let property, !property.isProjectedCollection else {
      trap(
        "'\(type(of: self)).\(property?.label ?? "")' is read from the objects of a list or set "
          + "and cannot be set. Set the property of these objects.")
    }
    rootObject.setValue(value, forKeyPath: property.name)
  }
}

@available(
  *, unavailable, message: "it is part of its projection: pass a ThreadSafeReference to that"
)
extension Projected: Sendable {}
