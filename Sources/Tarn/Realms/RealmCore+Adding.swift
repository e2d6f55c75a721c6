import CTarn
import TarnStore

/// How objects come into the Realm and leave it.
extension RealmCore {
  /// Makes an unmanaged object, and those that it links to, managed.
  func add(_ object: ObjectBase, update: Realm.UpdatePolicy) {
    let session = writing("add objects")
    if let core = object._core {
      refuseFrozen(object)
      require(
        core === self,
        "Cannot add an object that belongs to another Realm. Copy it, or freeze it there and "
          + "thaw it here.")
      require(
        !isInvalidated(object),
        "Adding a deleted or invalidated object to a Realm is not permitted: it was one of class "
          + "'\(object._className)'. Create a new one."
      )
      return
    }
    require(
      !(object is DynamicObject),
      "A DynamicObject cannot be added: make one with dynamicCreate(_:value:update:).")
    let binding = binding(of: type(of: object))
    let primaryKey = binding.primaryKey(of: object)
    require(
      update == .error || primaryKey != nil,
      "'\(binding.schema.name)' does not have a primary key and can not be updated: nothing "
        + "says which object is meant. Use update: .error, or give the class a primary key.")
    trapping { () throws(StorageError) in
      if let primaryKey,
        let existing = try session.find(primaryKey: primaryKey, in: binding.classID)
      {
        if update == .error { trapDuplicate(primaryKey, binding) }
        try merge(object, into: existing, binding, update)
      } else {
        // What the object links to follows the same policy.
        let outer = addingPolicy
        addingPolicy = update
        defer { addingPolicy = outer }
        try insert(object, primaryKey, binding, session)
      }
    }
  }

  private func insert(
    _ object: ObjectBase, _ primaryKey: Value?, _ binding: ClassBinding, _ session: WriteSession
  ) throws(StorageError) {
    let id = binding.classID
    let row = try session.create(primaryKey: primaryKey, in: id)
    attach(object, row.key, binding)
    object._bornIn = writeSerial
    object._working = Unmanaged.passUnretained(row.cluster)
    object._image = tarn_cluster_empty()
    object._slot = UInt32(row.slot)
    object._generation = context.pointee.generation
    noteAdded(object)
    // Managed before its links are followed: a cycle ends here.
    binding.moveValuesIntoRow(object)
    for column in session.schema.indexed(in: id)
    where column.type != .link && column.type != .any && column.id != binding.schema.primaryKey {
      guard let value = try session.value(of: column.id, at: row.key, in: id) else { continue }
      try session.file(value, of: column.id, at: row.key, in: id)
    }
  }

  /// Writes an unmanaged object's values over a row: all of them, or those that differ.
  private func merge(
    _ object: ObjectBase, into key: ObjectKey, _ binding: ClassBinding,
    _ update: Realm.UpdatePolicy
  ) throws(StorageError) {
    let session = writing("add objects")
    // Of an object that was made of values the properties that they name.
    let given = given[ObjectIdentifier(object)]
    let id = binding.classID
    for (property, column) in binding.columns where column != binding.schema.primaryKey {
      if let given, !given.contains(property.name) { continue }
      // Objects in collections may link back: those come when this object is managed.
      if property.collection != .none { continue }
      let boxed = property.readBoxed(object)
      if property.type == .any {
        let place = SequencePlace(classID: id, key: key, column: column)
        try set(stored(boxed, in: place, update), at: place, update)
        continue
      }
      var value = boxed.value
      if let target = boxed.object as? EmbeddedObject, target._core == nil, update == .modified,
        case .link(let there)? = try session.value(of: column, at: key, in: id)
      {
        // An embedded object has no key of its own: the one in the same place is the same.
        try merge(target, into: there, self.binding(of: type(of: target)), update)
        continue
      }
      if let target = boxed.object {
        if target._core == nil { add(target, update: policy(for: target, update)) }
        value = .link(ObjectKey(target._key))
      }
      let place = SequencePlace(classID: id, key: key, column: column)
      try set(value, at: place, update)
    }
    let collections = binding.columns.compactMap { property, column in
      (property.read(object) as? any _CollectionProperty).map { (property.name, column, $0) }
    }
    attach(object, key, binding)
    binding.bind(object)
    for (name, column, collection) in collections where given?.contains(name) ?? true {
      collection.becomeManaged(object, column, update: update)
    }
  }

  private func set(
    _ value: Value, at place: SequencePlace, _ update: Realm.UpdatePolicy
  ) throws(StorageError) {
    let session = writing("add objects")
    if update == .modified,
      let old = try session.value(of: place.column, at: place.key, in: place.classID),
      old.hasSameBits(as: value)
    {
      return
    }
    try session.set(place.column, at: place.key, in: place.classID, to: value)
  }

  /// Nested objects follow the policy where they can: those without primary key are always new.
  func policy(
    for object: ObjectBase, _ update: Realm.UpdatePolicy
  ) -> Realm.UpdatePolicy {
    let wanted = update == .error ? addingPolicy : update
    return binding(of: type(of: object)).schema.primaryKey == nil ? .error : wanted
  }

  // MARK: - Deleting

  private func requireOwn(_ object: ObjectBase) {
    require(
      object._core === self,
      "Can only delete an object from the Realm it belongs to: this one of class "
        + "'\(object._className)' belongs to \(object._core == nil ? "none" : "another one"). Use "
        + "its realm property.")
  }

  func delete(_ object: ObjectBase) {
    let session = writing("delete objects")
    refuseFrozen(object)
    requireOwn(object)
    if isInvalidated(object) { trapInvalid(object) }
    trapping { () throws(StorageError) in
      _ = try session.delete(ObjectKey(object._key), in: object._binding!.classID)
    }
    object._state.insert(.invalidated)
  }

  func delete<Element: ObjectBase>(_ results: Results<Element>) {
    let session = writing("delete objects")
    results.check()
    let id = results.live.query.classID
    trapping { () throws(StorageError) in
      if results.live.isWholeClass { return try session.clear(id) }
      try session.delete(results.rows().objects, in: id)
    }
  }

  /// Removes several objects, each once, and goes through what links to them once.
  func delete(_ objects: [ObjectBase]) {
    let session = writing("delete objects")
    var keys: [ClassID: [ObjectKey]] = [:]
    for object in objects {
      refuseFrozen(object)
      requireOwn(object)
      if isInvalidated(object) { trapInvalid(object) }
      keys[object._binding!.classID, default: []].append(ObjectKey(object._key))
    }
    trapping { () throws(StorageError) in
      for (id, keys) in keys { try session.delete(keys, in: id) }
    }
    for object in objects { object._state.insert(.invalidated) }
  }

  func deleteAll() {
    let session = writing("delete objects")
    trapping { () throws(StorageError) in
      try session.clear(session.schema.schema.classes.map(\.id))
    }
  }
}
