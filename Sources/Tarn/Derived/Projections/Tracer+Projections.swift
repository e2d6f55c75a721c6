extension Tracer {
  /// The properties of a key path that ends at those of a list's or set's objects, such as
  /// `\Person.friends.projectTo.name`: here `friends` and `name`.
  static func steps<Root: ObjectBase, Values>(
    ofValues keyPath: KeyPath<Root, Values>
  ) throws(KeyPathFault) -> [PropertyReflection] {
    // The list is followed by `projectTo` and its member.
    let path = try path(of: keyPath, throughElements: false) { _, type, following in
      type is ObjectBase.Type || following < 2 ? nil : .member
    }
    let parts = path.properties
    let reading = reading(keyPath, along: path) { (root: Root) in root }
    guard let steps = reading.steps, parts.count == steps.count + 2,
      steps.went(along: parts.dropLast(2)),
      let members = try reading.members
    else { throw KeyPathFault(keyPath, readsFrom: (reading.steps ?? []).compactMap(\.property)) }
    return steps.compactMap(\.property) + members
  }

  /// The object properties of a key path of their projection: those of the projected property, and
  /// the rest.
  static func steps<Root: ObjectBase, Front>(
    of keyPath: PartialKeyPath<Front>, throughElements: Bool, _ front: (Root) -> Front
  ) throws(KeyPathFault) -> [PropertyReflection] {
    let path = try path(of: keyPath, throughElements: throughElements) { _, type, _ in
      type is ObjectBase.Type || type == Front.self ? nil : .member
    }
    let parts = path.properties
    let reading = reading(keyPath, along: path, front)
    let found = (reading.steps ?? []).compactMap(\.property)
    guard let first = parts.first, let steps = reading.steps, let last = found.last,
      let lastValue = reading.lastValue,
      first.getter == reading.front?.getter,
      steps.suffix(parts.count - 1).went(along: parts.dropFirst())
    else { throw KeyPathFault(keyPath, readsFrom: found) }
    if let members = try reading.members { return found + members }
    guard KeyPathProbe.isSame(reading.value, lastValue, of: last) else {
      throw KeyPathFault(keyPath, readsFrom: found)
    }
    return found
  }
}

extension Tracer.Reading {
  /// For a projected collection, its path in the objects of the list or set that was read last. Nil
  /// for anything else, and for one of other objects.
  fileprivate var members: [PropertyReflection]? {
    get throws(KeyPathFault) {
      guard let values = value as? any ProjectedValues, let lastValue, values.isOf(lastValue) else {
        return nil
      }
      return try values.steps()
    }
  }
}

extension Collection<Tracer.Step> {
  /// True if they are those stored properties, one by one.
  fileprivate func went(along path: some Collection<KeyPathShape.Property>) -> Bool {
    count == path.count
      && zip(self, path).allSatisfy { $0.property != nil && $0.shape?.getter == $1.getter }
  }
}
