import TarnStore

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
