import TarnStore

extension ObjectBase {
  /// An unmanaged copy of the object, and of everything that it links to: objects, collections,
  /// values at any depth. An object that is reached on two ways is copied once: circles stay
  /// circles. For what must outlive the Realm, go to another thread or be encoded.
  ///
  /// Traps on a thread other than the Realm's and for an invalidated object.
  public func detached() -> Self {
    var copies: [LinkTarget: ObjectBase] = [:]
    return unsafeDowncast(ObjectBase.detached(self, &copies), to: Self.self)
  }

  /// - Parameter copies: what has been copied, by its row.
  private static func detached(
    _ object: ObjectBase, _ copies: inout [LinkTarget: ObjectBase]
  ) -> ObjectBase {
    guard let core = object._core else { return object }
    if core.isInvalidated(object) { core.trapInvalid(object) }
    let row = LinkTarget(classID: object._binding!.classID, key: ObjectKey(object._key))
    if let known = copies[row] { return known }
    let copy = type(of: object).init()
    copies[row] = copy
    for property in ClassReflection.of(type(of: object)).properties where !property.isComputed {
      if property.collection != .none {
        let collection = property.read(object) as! any _CollectionProperty
        let elements = collection.backing.detached { detached($0, &copies) }
        property.write(elements: elements, copy)
        continue
      }
      let boxed = property.readBoxed(object).detached { detached($0, &copies) }
      require(
        property.write(boxed, copy),
        "a value is not of its own property's type: bug in this package")
    }
    return copy
  }
}

extension _BoxedValue {
  /// The value with unmanaged copies of what it refers to.
  func detached(_ copy: (ObjectBase) -> ObjectBase) -> _BoxedValue {
    if let object { return _BoxedValue(.null, object: copy(object)) }
    guard let nested else { return self }
    return _BoxedValue(.null, nested: nested.detached(copy))
  }
}

extension SequenceBacking {
  /// An unmanaged copy of the elements.
  func detached(_ copy: (ObjectBase) -> ObjectBase) -> UnmanagedSequence {
    let result = UnmanagedSequence(kind)
    let elements = all.map { $0.detached(copy) }
    switch kind {
    case .map: for (key, value) in zip(allKeys, elements) { result.set(value, for: key) }
    case .set: for value in elements { result.insert(value) }
    case .list, .none: result.replace(0..<0, with: elements)
    }
    return result
  }
}

extension _CollectionProperty {
  /// An unmanaged copy of the collection.
  func detached(_ copy: (ObjectBase) -> ObjectBase) -> Self {
    Self(_handle: _SequenceHandle(backing.detached(copy)))
  }
}
