import Foundation
import TarnStore

/// Adding and deleting objects.
extension RealmCore {
  /// Makes an unmanaged object, and those that it links to, managed.
  func add(_ object: ObjectBase, update: Realm.UpdatePolicy) {
    _ = writing("add objects")
    if let core = object._core {
      object._refuseFrozen()
      require(
        core === self,
        "Cannot add an object that belongs to another Realm. Copy it, or freeze it there and "
          + "thaw it here.")
      require(
        !object._isInvalidated(in: self),
        "Adding a deleted or invalidated object to a Realm is not permitted: it was one of class "
          + "'\(object._className)'. Create a new one."
      )
      return
    }
    require(
      update == .error || binding(of: type(of: object)).schema.primaryKey != nil,
      "'\(binding(of: type(of: object)).schema.name)' does not have a primary key and can not be "
        + "updated: it is unknown which object is meant. Use update: .error, or give the class a "
        + "primary key.")
    takingIn { _ throws(StorageError) in try giveRow(object, update) }
  }

  // MARK: - Deleting

  private func requireOwn(_ object: ObjectBase) {
    require(
      object._core === self,
      "Can only delete an object from the Realm it belongs to: this one of class "
        + "'\(object._className)' belongs to "
        + "\(object._core == nil ? "no Realm" : "another Realm"). Use its realm property.")
  }

  func delete(_ object: ObjectBase) {
    let session = writing("delete objects")
    object._refuseFrozen()
    requireOwn(object)
    if object._isInvalidated(in: self) { object._trapInvalid() }
    let row = ObjectRef(classID: object._binding!.classID, key: ObjectKey(object._key))
    deleting([row]) {
      trapping { () throws(StorageError) in _ = try session.delete(row.key, in: row.classID) }
      object._state.insert(.invalidated)
    }
  }

  /// Deletes several objects, each once, and updates the links to them in one pass.
  func delete(_ objects: [ObjectBase]) {
    let session = writing("delete objects")
    var keys: [ClassID: [ObjectKey]] = [:]
    for object in objects {
      object._refuseFrozen()
      requireOwn(object)
      if object._isInvalidated(in: self) { object._trapInvalid() }
      keys[object._binding!.classID, default: []].append(ObjectKey(object._key))
    }
    deleting(keys.flatMap { id, keys in keys.map { ObjectRef(classID: id, key: $0) } }) {
      trapping { () throws(StorageError) in
        for (id, keys) in keys { try session.delete(keys, in: id) }
      }
      for object in objects { object._state.insert(.invalidated) }
    }
  }

  func deleteAll() {
    let session = writing("delete objects")
    let ids = session.schema.schema.classes.map(\.id)
    clearing(ids) { trapping { () throws(StorageError) in try session.clear(ids) } }
  }
}

/// Objects by their primary keys.
extension RealmCore {
  /// The object with that primary key, or nil.
  func object<T: ObjectBase, Key>(_ type: T.Type, primaryKey key: Key) -> T? {
    object(binding(of: type), primaryKey: key).map { unsafe unsafeDowncast($0, to: T.self) }
  }

  /// The object of a bound class with that primary key, or nil.
  func object<Key>(_ binding: ClassBinding, primaryKey key: Key) -> ObjectBase? {
    if Key.self == Int.self, binding.schema.keyIsPrimary {
      return object(ObjectKey(Int64(key as! Int)), existingIn: binding)
    }
    guard let column = binding.schema.primaryKey else {
      trap(
        "'\(binding.schema.name)' does not have a primary key to find an object by. "
          + "Use a condition.")
    }
    guard let value = primaryKey(key, binding, binding.schema[column]) else { return nil }
    let found = trapping { () throws(StorageError) in
      if let session { return try session.find(primaryKey: value, in: binding.classID) }
      return try shown().find(primaryKey: value, in: binding.classID)
    }
    return found.map { object($0, binding) }
  }

  /// A primary key from outside in its column's form; nil for a number that no object can have.
  private func primaryKey(_ key: Any, _ binding: ClassBinding, _ column: ColumnSchema) -> Value? {
    var natural = Value.null
    if let content = flattened(key), !(content is NSNull) {
      natural = Value(single: content) ?? .null
      let fits = natural.converted(to: column.type) != nil || natural.isNumber
      require(
        natural != .null && fits && (natural.isNumber == (column.type == .int)),
        "'\(Swift.type(of: content))' is not the type of the primary key of "
          + "'\(binding.schema.name)'.")
    }
    return natural.converted(to: column.type)
  }
}
