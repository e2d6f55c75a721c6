import CTarn
import TarnStore

/// What accessors ask of their instance, and how objects come and go.
extension RealmCore {
  // MARK: - Finding an accessor's row

  /// The slow path of every read: checks the thread, finds the row in what is shown now.
  ///
  /// Traps if the row is gone, the Realm was invalidated, or this is the wrong thread.
  @usableFromInline
  func locate(_ object: ObjectBase) {
    checkThread()
    if !find(object) {
      preconditionFailure("Object has been deleted or invalidated: \(object._className).")
    }
  }

  /// Brings an accessor's place up to date. False if its row is not there.
  func find(_ object: ObjectBase) -> Bool {
    if object._state.contains(.invalidated) { return false }
    guard object._life == invalidations, !cancelledWrites.contains(object._bornIn) else {
      object._state.insert(.invalidated)
      return false
    }
    guard let binding = object._binding else { return false }
    let key = ObjectKey(object._key)
    let found = trapping { () throws(StorageError) in
      try place(of: key, in: binding.classID, on: object)
    }
    if !found, session == nil { object._state.insert(.invalidated) }
    if found { object._generation = context.pointee.generation }
    return found
  }

  private func place(
    of key: ObjectKey, in id: ClassID, on object: ObjectBase
  ) throws(StorageError) -> Bool {
    if let session {
      switch try session.place(of: key, in: id) {
      case nil: return false
      case .image(let image, let slot): show(image, slot, on: object)
      case .working(let cluster, let slot):
        object._image = tarn_cluster_empty()
        object._working = Unmanaged.passUnretained(cluster)
        object._slot = UInt32(slot)
      }
      return true
    }
    guard let (image, slot) = try shown().row(key, in: id) else { return false }
    show(image, slot, on: object)
    return true
  }

  private func show(_ image: ClusterImage, _ slot: Int, on object: ObjectBase) {
    object._image = image.base
    object._working = nil
    object._slot = UInt32(slot)
  }

  func isInvalidated(_ object: ObjectBase) -> Bool {
    checkThread()
    if object._state.contains(.invalidated) { return true }
    if object._generation == context.pointee.generation { return false }
    return !find(object)
  }

  // MARK: - Setting properties

  /// Where to write a property that has neither index nor link; notes it as touched.
  @usableFromInline
  func edit(_ object: ObjectBase, _ column: ColumnID) -> (cluster: WorkingCluster, slot: Int) {
    let session = writing("modify managed objects")
    let id = object._binding!.classID
    let key = ObjectKey(object._key)
    let row = trapping { () throws(StorageError) in try session.edit(key, in: id) }
    guard find(object), let row else {
      preconditionFailure("Object has been deleted or invalidated: \(object._className).")
    }
    session.recorder.touch(id, key, column)
    return row
  }

  /// Sets a property whose column has an index.
  func setIndexed(_ object: ObjectBase, _ column: ColumnID, _ value: Value) {
    let session = writing("modify managed objects")
    let done = trapping { () throws(StorageError) in
      try session.set(
        column, at: ObjectKey(object._key), in: object._binding!.classID, to: value)
    }
    precondition(done, "Object has been deleted or invalidated: \(object._className).")
  }

  /// A long value's bytes.
  func longBytes(_ object: ObjectBase, _ column: ColumnID) -> [UInt8] {
    let id = object._binding!.classID
    let key = ObjectKey(object._key)
    return trapping { () throws(StorageError) in
      if let session { return try session.longBytes(of: column, at: key, in: id) }
      return try shown().longBytes(of: column, at: key, in: id)
    }
  }

  // MARK: - Accessors

  /// A managed object for a row that exists.
  func object(_ key: ObjectKey, _ binding: ClassBinding) -> ObjectBase {
    let object = binding.makeObject()
    attach(object, key, binding)
    return object
  }

  private func attach(_ object: ObjectBase, _ key: ObjectKey, _ binding: ClassBinding) {
    object._key = key.rawValue
    object._binding = binding
    object._core = self
    object._life = invalidations
    object._generation = 0
    object._context = context
    object._bornIn = isNew(key, binding.classID) ? writeSerial : 0
    binding.bind(object)
  }

  /// True if the open write made that row, so that its accessors die if it is cancelled.
  private func isNew(_ key: ObjectKey, _ id: ClassID) -> Bool {
    guard let session, session.recorder.hasInserted(id) else { return false }
    let stored = trapping { () throws(StorageError) in try session.reader.row(key, in: id) }
    return stored == nil
  }

  func linkedObject(
    _ object: ObjectBase, _ column: ColumnID, _ key: ObjectKey, as type: ObjectBase.Type
  ) -> ObjectBase {
    self.object(key, binding(of: type))
  }

  // MARK: - Adding

  /// Makes an unmanaged object, and those that it links to, managed.
  func add(_ object: ObjectBase, update: Realm.UpdatePolicy) {
    let session = writing("add objects")
    if let core = object._core {
      precondition(
        core === self,
        "Cannot add an object that belongs to another Realm. Copy it with Object(value:), or hand "
          + "a reference over.")
      precondition(!isInvalidated(object), "Adding a deleted or invalidated object to a Realm "
        + "is not permitted.")
      return
    }
    trapping { () throws(StorageError) in
      try add(object, binding(of: type(of: object)), update, session)
    }
  }

  private func add(
    _ object: ObjectBase, _ binding: ClassBinding, _ update: Realm.UpdatePolicy,
    _ session: WriteSession
  ) throws(StorageError) {
    let id = binding.classID
    let primaryKey = binding.primaryKey?.read(object)
    if let primaryKey, let existing = try session.find(primaryKey: primaryKey, in: id) {
      precondition(
        update != .error,
        "Attempting to create an object of type '\(binding.className)' with an existing primary "
          + "key value '\(primaryKey.description)'.")
      try merge(object, into: existing, binding, update, session)
      attach(object, existing, binding)
      return
    }
    precondition(
      update == .error || binding.primaryKey != nil,
      "'\(binding.className)' does not have a primary key and can not be updated")
    let row = try session.create(primaryKey: primaryKey, in: id)
    let links = binding.writeScalars(of: object, to: row.cluster, row.slot) { column, value in
      session.file(value, of: column, at: row.key, in: id)
    }
    // Managed before its links are followed: a cycle then ends here.
    let linked = links.map { ($0.column, $0.read(object)) }
    attach(object, row.key, binding)
    object._bornIn = writeSerial
    for (column, target) in linked {
      guard let target else { continue }
      add(target, update: update)
      let link = Value.link(ObjectKey(target._key))
      guard let (cluster, slot) = try session.edit(row.key, in: id) else { continue }
      cluster.set(column, slot, link)
      session.file(link, of: column, at: row.key, in: id)
    }
  }

  /// Writes an unmanaged object's values over a row: all of them, or those that differ.
  private func merge(
    _ object: ObjectBase, into key: ObjectKey, _ binding: ClassBinding,
    _ update: Realm.UpdatePolicy, _ session: WriteSession
  ) throws(StorageError) {
    for property in binding.properties where !property.isPrimaryKey {
      var value: Value
      if property.isLink {
        value = .null
        if let target = property.readLink(object) {
          add(target, update: update)
          value = .link(ObjectKey(target._key))
        }
      } else {
        value = property.read(object)
      }
      if update == .modified {
        let old = try session.value(of: property.column, at: key, in: binding.classID)
        if let old, old.hasSameBits(as: value) { continue }
      }
      try session.set(property.column, at: key, in: binding.classID, to: value)
    }
  }

  /// Sets a to-one link; an unmanaged target is added first.
  func setLink(_ object: ObjectBase, _ column: ColumnID, to target: ObjectBase?) {
    guard let target else { return setIndexed(object, column, .null) }
    if target._core == nil { add(target, update: .error) }
    precondition(
      target._core === self, "Cannot link to an object that belongs to another Realm.")
    precondition(!isInvalidated(target), "Cannot link to a deleted or invalidated object.")
    setIndexed(object, column, .link(ObjectKey(target._key)))
  }

  // MARK: - Deleting

  func delete(_ object: ObjectBase) {
    let session = writing("delete objects")
    precondition(object._core === self, "Can only delete an object from the Realm it belongs to.")
    precondition(
      !isInvalidated(object), "Cannot delete an object that was deleted or invalidated before.")
    trapping { () throws(StorageError) in
      _ = try session.delete(ObjectKey(object._key), in: object._binding!.classID)
    }
    object._state.insert(.invalidated)
  }

  func deleteAll() {
    let session = writing("delete objects")
    trapping { () throws(StorageError) in
      for described in session.schema.schema.classes { try session.clear(described.id) }
    }
  }
}
