extension Tracer {
  /// The properties that a key path goes through which ends at those of a list's or set's objects,
  /// such as `\Person.friends.projectTo.name`: here `friends` and `name`.
  static func steps<Root: ObjectBase, Values>(
    ofValues keyPath: KeyPath<Root, Values>
  ) throws(KeyPathFault) -> [PropertyReflection] {
    // Behind the list come `projectTo` and its member.
    let parts = try properties(of: keyPath, fromObjects: { $0 < $1 - 2 })
    let reading = reading(keyPath) { (root: Root) in root }
    guard let steps = reading.steps, parts.count == steps.count + 2,
      steps.went(along: parts.dropLast(2)),
      let members = try reading.members
    else { throw KeyPathFault(keyPath, readsFrom: (reading.steps ?? []).compactMap(\.property)) }
    return steps.compactMap(\.property) + members
  }

  /// The properties of objects that a key path of their projection goes through: what the projected
  /// property stands for, and on from there.
  static func steps<Root: ObjectBase, Front>(
    of keyPath: PartialKeyPath<Front>, _ front: (Root) -> Front
  ) throws(KeyPathFault) -> [PropertyReflection] {
    let parts = try properties(of: keyPath, fromObjects: { number, _ in number > 0 })
    let reading = reading(keyPath, front)
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

extension Tracer {
  /// The properties that a key path consists of. Throws where one goes on from what is no object:
  /// nothing of that need be called then.
  ///
  /// - Parameter isOnObject: whether that number of so many properties must be of an object.
  private static func properties<Root>(
    of keyPath: PartialKeyPath<Root>, fromObjects isOnObject: (_ number: Int, _ count: Int) -> Bool
  ) throws(KeyPathFault) -> [KeyPathShape.Property] {
    guard let shape = KeyPathShape(keyPath) else { throw KeyPathFault(keyPath, .unknown) }
    let all = shape.properties
    var type: Any.Type = Root.self
    var number = 0
    for part in shape.parts {
      switch part {
      case .property(let property):
        if isOnObject(number, all.count), !(type is ObjectBase.Type) {
          throw KeyPathFault(keyPath, .member)
        }
        type = property.type
        number += 1
      case .field: throw KeyPathFault(keyPath, number > 0 ? .member : .notStored(from: []))
      case .chain, .force:
        if let optional = type as? any OptionalProtocol.Type { type = optional.wrappedType }
      case .wrap: break
      }
    }
    return all
  }
}

extension Tracer.Reading {
  /// Of a projected collection, what it leads through in the objects of the list or set that was
  /// read last. Nil for something else, and for one of other objects.
  fileprivate var members: [PropertyReflection]? {
    get throws(KeyPathFault) {
      guard let values = value as? any ProjectedValues, let lastValue, values.isOf(lastValue) else {
        return nil
      }
      return try values.steps()
    }
  }
}

extension KeyPathShape {
  /// The parts that are properties.
  fileprivate var properties: [Property] {
    parts.compactMap { if case .property(let property) = $0 { property } else { nil } }
  }
}

extension Collection<Tracer.Step> {
  /// True if they are those stored properties, one by one.
  fileprivate func went(along path: some Collection<KeyPathShape.Property>) -> Bool {
    count == path.count
      && zip(self, path).allSatisfy { $0.property != nil && $0.shape?.getter == $1.getter }
  }
}
