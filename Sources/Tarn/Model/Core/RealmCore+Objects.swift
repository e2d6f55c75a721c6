import Foundation
import TarnStore

/// Calls of accessors to their instance, and accessors for rows.
extension RealmCore {
  /// Sets a property to a value in stored form.
  func set(_ object: ObjectBase, _ column: ColumnID, _ value: Value) {
    guard let properties else { return object._setIndexed(column, value, in: self) }
    object._assigning(column, value, in: self, properties) {
      object._setIndexed(column, value, in: self)
    }
  }

  /// Sets a link; an unmanaged target is added first.
  func setLink(_ object: ObjectBase, _ column: ColumnID, to target: ObjectBase?) {
    guard let properties else { return pointLink(object, column, to: target) }
    let isHere = target.map { $0._core === self && !$0._isInvalidated(in: self) } ?? false
    let link = isHere ? Value.link(ObjectKey(target!._key)) : .null
    object._assigning(column, link, in: self, properties) { pointLink(object, column, to: target) }
  }

  private func pointLink(_ object: ObjectBase, _ column: ColumnID, to target: ObjectBase?) {
    guard let target else { return object._setIndexed(column, .null, in: self) }
    object._writing(column, in: self)
    takingIn { _ throws(StorageError) in
      try takeIn(target, .error)
      object._setIndexed(column, .link(ObjectKey(target._key)), in: self)
    }
  }

  /// Traps for a managed object that nothing in this Realm can link to: a frozen one, one of
  /// another Realm, or a deleted one.
  func checkLinkable(_ object: ObjectBase) {
    object._refuseFrozen()
    if isOfOldSide(object) { return }
    require(
      object._core === self,
      "Cannot link to an object of another Realm, one of class '\(object._className)'. Freeze it "
        + "there and thaw it here, or create the object in this Realm.")
    if object._isInvalidated(in: self) { object._trapInvalid() }
  }

  /// True for an object of the old side of this migration: it means the new one with its key. Traps
  /// if that was deleted.
  func isOfOldSide(_ object: ObjectBase) -> Bool {
    guard let oldSide, object._core === oldSide else { return false }
    let (id, key) = (object._binding!.classID, ObjectKey(object._key))
    let isThere = trapping { () throws(StorageError) in
      try session?.location(of: key, in: id) != nil
    }
    require(
      isThere,
      "An object of class '\(object._className)' was deleted in this migration: nothing can "
        + "link to it. Use enumerateObjects to find the remaining objects.")
    return true
  }

  /// True if the object's row is owned by another object in the current schema.
  func ownsRow(of object: ObjectBase) -> Bool {
    schemaToBind().isEmbedded(object._binding!.classID)
  }

  // MARK: - Accessors

  /// An accessor for a row that exists.
  func object(_ key: ObjectKey, _ binding: ClassBinding) -> ObjectBase {
    let object = binding.reflection.type.init()
    adopt(object, key, binding)
    return object
  }

  /// Makes a fresh object the accessor of a row that exists.
  func adopt(_ object: ObjectBase, _ key: ObjectKey, _ binding: ClassBinding) {
    object._attach(to: self, key, binding)
    binding.bind(object)
    if isFrozen {
      object._locateForGood(in: self)
    } else if isNew(key, binding.classID) {
      object._createdInWrite = write.mark
    }
  }

  func object(_ type: ObjectBase.Type, _ key: ObjectKey) -> ObjectBase {
    object(key, binding(of: type))
  }

  /// The target of a link. Runs no user code but the class's `init()`.
  func linkedObject(
    _ object: ObjectBase, _ column: ColumnID, _ key: ObjectKey, as type: ObjectBase.Type
  ) -> ObjectBase {
    self.object(key, binding(of: type))
  }

  /// The keys of the objects of `origin` whose property `property` links to the object, in order,
  /// each as often as it links.
  func backlinks(
    _ object: ObjectBase, from origin: ObjectBase.Type, property: String
  ) -> [ObjectKey] {
    checkThread()
    if object._isInvalidated(in: self) { object._trapInvalid() }
    let binding = binding(of: origin)
    tracking?.note(.classes([binding.classID, object._binding!.classID]))
    guard let column = binding.column(property) else { return [] }
    let target = ObjectRef(
      classID: object._binding!.classID, key: ObjectKey(object._key))
    return trapping { () throws(StorageError) in
      try rows().origins(of: target, in: binding.classID, through: column)
    }
  }

  // MARK: - Values

  /// A stored value in the form of its property; nil for null, and for a list or map within it.
  func swiftValue(_ value: Value, of property: PropertyReflection) -> Any? {
    switch value {
    case .null, .list, .map: return nil
    case .object(let id, let key):
      if property.isDynamic { return object(key, of: id) }
      return property.wrapper.unboxed(_BoxedValue(value, object: object(key, of: id)))
    case .link(let key):
      if let name = property.dynamicTarget { return object(key, ofClass: name) }
      return property.target.map { object(key, binding(of: $0)) }
    default: return property.wrapper.unboxed(_BoxedValue(value))
    }
  }

  /// The object with that key, or nil. The row is cached, so that the object's first read need not
  /// look it up again.
  func object(_ key: ObjectKey, existingIn binding: ClassBinding) -> ObjectBase? {
    let object = binding.reflection.type.init()
    object._attach(to: self, key, binding)
    let found = trapping { () throws(StorageError) in
      try object._findRow(key, in: binding.classID, of: self)
    }
    guard found else { return nil }
    object._generation = unsafe context.pointee.generation
    binding.bind(object)
    if isNew(key, binding.classID) { object._createdInWrite = write.mark }
    return object
  }
}

/// Objects of classes as the file describes them.
extension RealmCore {
  /// The binding of a class for dynamic objects. Traps if the file has no such class.
  func dynamicBinding(_ name: String) -> ClassBinding {
    let schema = schemaToBind()
    if let known = classes.known(name) ?? classesOfThread?.known(name) { return known }
    guard let described = schema.schema.named(name), !described.isVacant else {
      trap(
        "The file has no class '\(name)'. Use its name in the file, without module; see the "
          + "Realm's schema.")
    }
    let binding = ClassBinding(ClassReflection(schema.schema, described), described)
    (classesOfThread ?? classes).keep(binding, forDynamic: name)
    return binding
  }

  /// The row of a managed object as a dynamic one.
  func dynamicObject(for object: ObjectBase) -> DynamicObject {
    if object._isInvalidated { object._trapInvalid() }
    return dynamicObject(ObjectKey(object._key), dynamicBinding(object._className))
  }

  func dynamicObject(_ key: ObjectKey, _ binding: ClassBinding) -> DynamicObject {
    unsafe unsafeDowncast(object(key, binding), to: DynamicObject.self)
  }

  func binding(of spec: QuerySpec) -> ClassBinding {
    spec.dynamicClass.map { dynamicBinding($0) } ?? binding(of: spec.type)
  }

  /// The binding of a managed object's class in the current schema.
  func binding(for object: ObjectBase) -> ClassBinding {
    object is DynamicObject
      ? dynamicBinding(object._binding!.reflection.name) : binding(of: type(of: object))
  }

  // MARK: - Values

  func column(of property: PropertyReflection, in binding: ClassBinding) -> ColumnID {
    guard let column = binding.column(property.name) else {
      trap(
        "Class '\(binding.reflection.name)' no longer has the property '\(property.name)': a "
          + "migration removed it. Fetch the object again.")
    }
    return column
  }
}
