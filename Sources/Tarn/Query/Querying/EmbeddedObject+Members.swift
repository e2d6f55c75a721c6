import TarnStore

/// The reason why an object cannot be compared member by member.
struct MemberMistake: Error {
  let message: String
}

extension EmbeddedObject {
  /// The values of an embedded object's properties, for a comparison with another one: embedded
  /// objects are equal if their members are. The members of embedded members are compared in turn;
  /// elements of lists in order.
  func membersToCompare() throws(MemberMistake) -> Operand {
    let reflection = ClassReflection.of(type(of: self))
    if isInvalidated {
      throw MemberMistake(message: "a deleted object")
    }
    var terms: [Predicate] = []
    for property in reflection.properties where !property.isComputed {
      terms += try member(property, of: reflection)
    }
    return .members(of: reflection.name, terms.count == 1 ? terms[0] : .and(terms))
  }

  private func member(
    _ property: PropertyReflection, of reflection: ClassReflection
  ) throws(MemberMistake) -> [Predicate] {
    let path: Path = [.property(property.columnName)]
    let name = "'\(reflection.name).\(property.name)'"
    guard property.collection != .none else {
      let boxed = property.readBoxed(self)
      return [.comparison(Comparison(.path(path), .equal, try operand(boxed, name)))]
    }
    guard let collection = property.read(self) as? any _CollectionProperty else { return [] }
    var elements: [Value] = []
    for boxed in collection.backing.all {
      guard case .value(let value) = try operand(boxed, name) else {
        throw MemberMistake(message: "\(name) holds embedded objects: compare it in Swift")
      }
      elements.append(value)
    }
    switch property.collection {
    case .map:
      throw MemberMistake(message: "\(name) is a map: compare its entries in Swift")
    case .set:
      let count = Predicate.compare(path, .count, .equal, .value(.int(Int64(elements.count))))
      return [count] + elements.map { .any(path, .equal, .value($0)) }
    case .list, .none: return [.comparison(Comparison(.path(path), .equal, .values(elements)))]
    }
  }

  private func operand(_ boxed: _BoxedValue, _ name: String) throws(MemberMistake) -> Operand {
    switch boxed.object {
    case nil: return .value(boxed.value)
    case let embedded as EmbeddedObject: return try embedded.membersToCompare()
    case let object?:
      if object.isGone {
        throw MemberMistake(message: "\(name) is a deleted object")
      }
      return .value(object._core == nil ? .unmanagedObject : .link(ObjectKey(object._key)))
    }
  }
}
