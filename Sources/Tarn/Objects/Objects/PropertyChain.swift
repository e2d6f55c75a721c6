import TarnStore

/// The observed properties of a key path.
struct PropertyChain {
  /// The properties, the links first; empty for `\.isInvalidated`, also of one of its collections.
  let steps: [PropertyReflection]
  /// It continues after a link with `!`.
  private let insists: Bool

  var isOfObject: Bool { steps.isEmpty }
  /// It ends in a list, set or map.
  var isCollection: Bool { steps.last.map { $0.collection != .none } ?? false }

  /// Its elements have positions.
  var isList: Bool { steps.last?.collection == .list }

  /// Traps for a key path whose changes cannot be observed.
  init<Root: ObjectBase, Value>(_ keyPath: KeyPath<Root, Value>) {
    if keyPath == \Root.isInvalidated || Self.isOfOwnCollection(keyPath) {
      steps = []
      insists = false
      return
    }
    steps = Tracer.steps(of: keyPath, for: .property)
    insists =
      KeyPathShape(keyPath)?.parts.contains { if case .force = $0 { true } else { false } } ?? false
    for step in steps where step.isComputed {
      trap(
        "'\(step.name)' is a LinkingObjects property, which cannot be observed: it is never "
          + "assigned. Observe the collection: object.\(step.name).observe { … }.")
    }
  }

  /// Whether it is `\.toys.isInvalidated`: a collection ends with its object.
  private static func isOfOwnCollection(_ keyPath: AnyKeyPath) -> Bool {
    guard let parts = KeyPathShape(keyPath)?.parts, parts.count == 2,
      case .property(let property) = parts[0], case .property(let last) = parts[1],
      let collection = property.type as? any _CollectionProperty.Type
    else { return false }
    return collection.end?.getter == last.getter
  }

  /// True if the path reaches a property: no link that it follows with `!` is nil.
  func leadsOn(from object: ObjectBase) -> Bool {
    guard insists else { return true }
    var object = object
    for step in steps.dropLast() {
      guard let next = step.readFlat(object) as? ObjectBase else { return false }
      object = next
    }
    return true
  }
}

extension _CollectionProperty {
  /// The read of `isInvalidated` in key paths to a collection's.
  fileprivate static var end: KeyPathShape.Property? {
    KeyPathShape(\Self.isInvalidated)?.onlyProperty
  }
}
