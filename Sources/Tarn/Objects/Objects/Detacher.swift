import TarnStore

extension ObjectBase {
  /// An unmanaged copy of the object, and of everything that it links to: objects, collections,
  /// values at any depth. An object reachable by two paths is copied once: cycles stay cycles. Use
  /// it for data that outlives the Realm, is passed to another thread or is encoded.
  ///
  /// Traps on a thread other than the Realm's and for an invalidated object.
  public func detached() -> Self {
    let detached = Detacher().detach(self)
    return unsafe unsafeDowncast(detached, to: Self.self)
  }
}

/// Makes unmanaged copies of objects and of the objects that they link to: with a list, so that
/// chains of links may have any length.
private final class Detacher {
  /// Finished copies, by their rows.
  private var copies: [ObjectRef: ObjectBase] = [:]
  /// Copies without values yet, with their originals.
  private var pending: [(object: ObjectBase, copy: ObjectBase)] = []

  func detach(_ object: ObjectBase) -> ObjectBase {
    let result = copy(object)
    while let next = pending.popLast() { fill(next.copy, from: next.object) }
    return result
  }

  /// The object's copy, or the object itself if it is unmanaged.
  private func copy(_ object: ObjectBase) -> ObjectBase {
    guard object._core != nil else { return object }
    if object._isInvalidated { object._trapInvalid() }
    let row = ObjectRef(classID: object._binding!.classID, key: ObjectKey(object._key))
    if let known = copies[row] { return known }
    let copy = type(of: object).init()
    copies[row] = copy
    pending.append((object, copy))
    return copy
  }

  private func fill(_ copy: ObjectBase, from object: ObjectBase) {
    let properties = ClassReflection.of(type(of: object)).properties
    if properties.contains(where: \.leadsOn) { copy._state.insert(.unlinksWhenItGoes) }
    for property in properties where !property.isComputed {
      if property.collection != .none {
        let collection = property.read(object) as! any _CollectionProperty
        property.write(elements: collection.backing.detached(self.copy), copy)
        continue
      }
      require(
        property.write(property.readBoxed(object).detached(self.copy), copy),
        "internal error: a value is not of its own property's type")
    }
  }
}

/// The lists and maps within one property's value that were copied. Each is held once: in a
/// damaged file that has one twice on each level, copying would never end.
private struct MetCollections {
  private var ids: Set<CollectionID> = []

  mutating func take(_ backing: any SequenceBacking) {
    guard let id = (backing as? ManagedSequence)?.place.nested else { return }
    trapping { () throws(StorageError) in
      if !ids.insert(id).inserted { throw SequencePlace.referredTwice("copy collection") }
    }
  }
}

extension _BoxedValue {
  /// The value with unmanaged copies of the objects and collections in it.
  func detached(_ copy: (ObjectBase) -> ObjectBase) -> _BoxedValue {
    var met = MetCollections()
    return detached(copy, &met)
  }

  fileprivate func detached(
    _ copy: (ObjectBase) -> ObjectBase, _ met: inout MetCollections
  ) -> _BoxedValue {
    if let object { return _BoxedValue(.null, object: copy(object)) }
    guard let nested else { return self }
    return _BoxedValue(.null, nested: nested.detached(copy, &met))
  }
}

extension SequenceBacking {
  /// An unmanaged copy of the elements.
  func detached(_ copy: (ObjectBase) -> ObjectBase) -> UnmanagedSequence {
    var met = MetCollections()
    return detached(copy, &met)
  }

  fileprivate func detached(
    _ copy: (ObjectBase) -> ObjectBase, _ met: inout MetCollections
  ) -> UnmanagedSequence {
    met.take(self)
    let result = UnmanagedSequence(kind)
    let elements = all.map { $0.detached(copy, &met) }
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
