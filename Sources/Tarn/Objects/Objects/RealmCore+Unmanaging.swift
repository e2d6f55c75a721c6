import CTarn
import TarnStore

/// Returning the objects of a cancelled write, if the configuration requests it: the same Swift
/// objects are unmanaged again, with their last values.
extension RealmCore {
  /// Called while the write is still open. Returns the work for the time after it.
  func prepareUnmanage() -> () -> Void {
    let objects = write.takeAddedObjects().compactMap { $0 as? ObjectBase }.filter {
      $0._core === self && !$0._isInvalidated
    }
    guard !objects.isEmpty else { return {} }
    var byRow: [ObjectRef: ObjectBase] = [:]
    for object in objects { if let row = object._row { byRow[row] = object } }
    // A link to an object that stays in the Realm stays a link.
    let values = objects.map { object in
      unmanagedValues(of: object) { linked in
        linked._core === self ? linked._row.flatMap { byRow[$0] } ?? linked : linked
      }
    }
    return {
      for (object, values) in zip(objects, values) { object._becomeUnmanaged(values) }
    }
  }

  private func unmanagedValues(
    of object: ObjectBase, _ linked: (ObjectBase) -> ObjectBase
  ) -> [(PropertyReflection, UnmanagedValue)] {
    let properties = ClassReflection.of(type(of: object)).properties
    return properties.filter { !$0.isComputed }.map { property in
      guard property.collection != .none else {
        return (property, .single(property.readBoxed(object).detached(linked)))
      }
      let collection = property.read(object) as! any _CollectionProperty
      return (property, .collection(collection.detached(linked)))
    }
  }
}

/// A property's value without a row.
enum UnmanagedValue {
  case single(_BoxedValue)
  case collection(any _CollectionProperty)
}

extension ObjectBase {
  /// Makes a managed object an unmanaged one, with these values.
  fileprivate final func _becomeUnmanaged(_ values: [(PropertyReflection, UnmanagedValue)]) {
    unsafe _context = nil
    _instance = nil
    _binding = nil
    unsafe _working = nil
    unsafe _image = nil
    _generation = 0
    _key = 0
    _createdInWrite = nil
    _state = []
    for (property, value) in values {
      let field = unsafe property.field(of: self)
      unsafe (field + property.wrapper.columnOffset).storeBytes(of: .max, as: UInt16.self)
      switch value {
      case .single(let value):
        require(
          property.write(value, self),
          "internal error: a value is not of its own property's type")
      case .collection(let value): property.write(elements: value.backing, self)
      }
    }
  }
}
