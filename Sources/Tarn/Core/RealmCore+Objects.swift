import CTarn
import Foundation
import TarnStore

/// What accessors ask of their instance, and accessors for rows.
extension RealmCore {
  /// The slow path of every read: checks the thread, finds the row in what is shown now.
  ///
  /// Traps if the row is gone, the Realm was invalidated, or this is the wrong thread. Runs no user
  /// code: the getters promise that.
  @usableFromInline
  func locate(_ object: ObjectBase) {
    if isFrozen {
      if isInvalidated(object) { trapInvalid(object) }
      return
    }
    object._warmColumns = 0
    checkThread()
    if !find(object) { trapInvalid(object) }
  }

  func trapInvalid(_ object: ObjectBase) -> Never {
    if let damage = damage(behindMissing: object) {
      trap(
        "Tarn cannot go on reading: the file is damaged: \(damage). `tarn inspect --check` looks "
          + "at all of it.")
    }
    trap(
      "Object has been deleted or invalidated: an object of class '\(object._className)' is used "
        + "after that. Check isInvalidated first.")
  }

  /// Why the object's row is not there although what is shown says that it is; nil for one that is
  /// gone.
  private func damage(behindMissing object: ObjectBase) -> String? {
    guard object._life == state.life, object._createdInWrite?.wasCancelled != true,
      frozen?.isInvalidated != true, let id = object._binding?.classID,
      let reader = session?.reader ?? reader ?? frozen.map(shown)
    else { return nil }
    return reader.damage(behindMissing: ObjectKey(object._key), in: id)
  }

  /// Brings an accessor's row up to date. False if its row is not there.
  func find(_ object: ObjectBase) -> Bool {
    if object._state.contains(.invalidated) { return false }
    guard object._life == state.life, object._createdInWrite?.wasCancelled != true else {
      object._state.insert(.invalidated)
      return false
    }
    let key = ObjectKey(object._key)
    let found = trapping { () throws(StorageError) in
      try locate(key, in: object._binding!.classID, on: object)
    }
    if found {
      object._generation = unsafe context.pointee.generation
    } else if session == nil {
      object._state.insert(.invalidated)
    }
    return found
  }

  private func locate(
    _ key: ObjectKey, in id: ClassID, on object: ObjectBase
  ) throws(StorageError) -> Bool {
    guard let session else {
      guard let (image, slot) = try shown().row(key, in: id) else { return false }
      show(image, slot, on: object)
      return true
    }
    switch try session.location(of: key, in: id) {
    case nil: return false
    case .image(let image, let slot): show(image, slot, on: object)
    case .working(let cluster, let slot): show(cluster, slot, on: object)
    }
    return true
  }

  private func show(_ cluster: WorkingCluster, _ slot: Int, on object: ObjectBase) {
    unsafe object._image = unsafe tarn_cluster_empty()
    unsafe object._working = unsafe Unmanaged.passUnretained(cluster)
    object._slot = UInt32(slot)
  }

  private func show(_ image: ClusterImage, _ slot: Int, on object: ObjectBase) {
    // Where reads are noted, all of them take the slow path.
    unsafe object._image =
      tracking == nil ? unsafe image.bytes.baseAddress : unsafe tarn_cluster_empty()
    unsafe object._working = nil
    object._slot = UInt32(slot)
  }

  /// True if the open write has the object's row in the cluster at that address, where the object
  /// looks for it. Reads nothing there.
  func writesRow(of object: ObjectBase, in cluster: UnsafeMutableRawPointer) -> Bool {
    guard let session, let id = object._binding?.classID,
      case .working(let found, let slot)? = try? session.location(
        of: ObjectKey(object._key), in: id)
    else { return false }
    return unsafe Unmanaged.passUnretained(found).toOpaque() == cluster && slot == object._slot
  }

  /// True if the row is gone at the version shown. Traps on the wrong thread.
  func isInvalidated(_ object: ObjectBase) -> Bool {
    if let frozen { return frozen.isInvalidated || object._state.contains(.invalidated) }
    checkThread()
    if object._state.contains(.invalidated) { return true }
    if unsafe object._generation == context.pointee.generation { return false }
    return !find(object)
  }

  // MARK: - Setting properties

  /// Where to write a property that has neither index nor link; notes it as touched.
  func edit(_ object: ObjectBase, _ column: ColumnID) -> (cluster: WorkingCluster, slot: Int) {
    let session = writing(object, column)
    if unsafe object._generation != context.pointee.generation, !find(object) {
      trapInvalid(object)
    }
    let id = object._binding!.classID
    let key = ObjectKey(object._key)
    let row = trapping { () throws(StorageError) in try session.edit(key, in: id) }
    guard let row else { trapInvalid(object) }
    show(row.cluster, row.slot, on: object)
    object._generation = unsafe context.pointee.generation
    session.recorder.touch(id, key, column)
    return row
  }

  /// Sets a property whose column has an index. Its observers are the caller's business.
  func setIndexed(_ object: ObjectBase, _ column: ColumnID, _ value: Value) {
    let session = writing(object, column)
    if isInvalidated(object) { trapInvalid(object) }
    let done = trapping { () throws(StorageError) in
      try session.set(column, at: ObjectKey(object._key), in: object._binding!.classID, to: value)
    }
    if !done { trapInvalid(object) }
  }

  /// Sets a property to a value as it is stored.
  func set(_ object: ObjectBase, _ column: ColumnID, _ value: Value) {
    guard let properties else { return setIndexed(object, column, value) }
    assigning(object, column, value, properties) { setIndexed(object, column, value) }
  }

  /// Points a link elsewhere; an unmanaged target is added first.
  func setLink(_ object: ObjectBase, _ column: ColumnID, to target: ObjectBase?) {
    guard let properties else { return pointLink(object, column, to: target) }
    let isHere = target.map { $0._core === self && !isInvalidated($0) } ?? false
    let link = isHere ? Value.link(ObjectKey(target!._key)) : .null
    assigning(object, column, link, properties) { pointLink(object, column, to: target) }
  }

  private func pointLink(_ object: ObjectBase, _ column: ColumnID, to target: ObjectBase?) {
    guard let target else { return setIndexed(object, column, .null) }
    _ = writing(object, column)
    takingIn { _ throws(StorageError) in
      try takeIn(target, .error)
      setIndexed(object, column, .link(ObjectKey(target._key)))
    }
  }

  /// Traps for a managed object that nothing in this Realm can link to: one that is frozen, that
  /// belongs to another Realm, or that is gone.
  func checkLinkable(_ object: ObjectBase) {
    refuseFrozen(object)
    if isOfOldSide(object) { return }
    require(
      object._core === self,
      "Cannot link to an object of another Realm, one of class '\(object._className)'. Freeze it "
        + "there and thaw it here, or create the object in this Realm.")
    if isInvalidated(object) { trapInvalid(object) }
  }

  /// True for an object of the old side of this migration: it stands for the new one with its key.
  /// Traps if that was deleted.
  func isOfOldSide(_ object: ObjectBase) -> Bool {
    guard let oldSide, object._core === oldSide else { return false }
    let (id, key) = (object._binding!.classID, ObjectKey(object._key))
    let isThere = trapping { () throws(StorageError) in
      try session?.location(of: key, in: id) != nil
    }
    require(
      isThere,
      "An object of class '\(object._className)' was deleted in this migration: nothing can "
        + "link to it. Check what is left with enumerateObjects.")
    return true
  }

  /// True if the object's row belongs to another one in the schema that is shown.
  func ownsRow(of object: ObjectBase) -> Bool {
    schemaToBind().isEmbedded(object._binding!.classID)
  }

  /// The bytes of a value that is kept in pieces.
  func longBytes(_ object: ObjectBase, _ column: ColumnID) -> [UInt8] {
    let id = object._binding!.classID
    let key = ObjectKey(object._key)
    return trapping { () throws(StorageError) in
      if let session { return try session.longBytes(of: column, at: key, in: id) }
      return try shown().longBytes(of: column, at: key, in: id)
    }
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
    attach(object, key, binding)
    binding.bind(object)
    if isFrozen {
      locateForGood(object)
    } else if isNew(key, binding.classID) {
      object._createdInWrite = write.mark
    }
  }

  /// Finds the row of an accessor of a frozen instance. It is not looked for again, so that any
  /// number of threads can read through the accessor.
  private func locateForGood(_ object: ObjectBase) {
    let isThere = trapping { () throws(StorageError) in
      try locate(ObjectKey(object._key), in: object._binding!.classID, on: object)
    }
    if !isThere { object._state.insert(.invalidated) }
    object._generation = unsafe context.pointee.generation
  }

  func object(_ type: ObjectBase.Type, _ key: ObjectKey) -> ObjectBase {
    object(key, binding(of: type))
  }

  /// The object that a link points to. Runs no user code but the class's `init()`.
  func linkedObject(
    _ object: ObjectBase, _ column: ColumnID, _ key: ObjectKey, as type: ObjectBase.Type
  ) -> ObjectBase {
    self.object(key, binding(of: type))
  }

  func attach(_ object: ObjectBase, _ key: ObjectKey, _ binding: ClassBinding) {
    object._key = key.rawValue
    object._binding = binding
    object._core = self
    object._life = state.life
    object._generation = 0
    unsafe object._context = unsafe context
    if isFrozen { object._state = .frozen }
  }

  /// True if the open write made that row, so that its accessors die if it is cancelled.
  func isNew(_ key: ObjectKey, _ id: ClassID) -> Bool {
    guard let session, session.hasInserted(into: id) else { return false }
    return trapping { () throws(StorageError) in
      if let earlier = write.savepoint, try earlier.location(of: key, in: id) != nil {
        return false
      }
      return try session.reader.row(key, in: id) == nil
    }
  }

  /// The keys of the objects of `origin` whose property `property` links to the object, in order,
  /// each as often as it does.
  func backlinks(
    _ object: ObjectBase, from origin: ObjectBase.Type, property: String
  ) -> [ObjectKey] {
    checkThread()
    if isInvalidated(object) { trapInvalid(object) }
    let binding = binding(of: origin)
    tracking?.note(.classes([binding.classID, object._binding!.classID]))
    guard let column = binding.column(property) else { return [] }
    let target = LinkTarget(
      classID: object._binding!.classID, key: ObjectKey(object._key))
    return trapping { () throws(StorageError) in
      if let session {
        return try session.origins(of: target, in: binding.classID, through: column)
      }
      return try shown().origins(of: target, in: binding.classID, through: column)
    }
  }

  // MARK: - Values

  /// A stored value as its property shows it; nil for null, and for a list or map within it.
  func swiftValue(_ value: Value, of property: PropertyReflection) -> Any? {
    switch value {
    case .null, .list, .map: return nil
    case .object(let id, let key):
      if property.isDynamic { return object(key, dynamicBinding(schemaToBind()[id].name)) }
      return property.wrapper.unboxed(_BoxedValue(value, object: object(key, of: id)))
    case .link(let key):
      if let name = property.dynamicTarget { return object(key, dynamicBinding(name)) }
      return property.target.map { object(key, binding(of: $0)) }
    default: return property.wrapper.unboxed(_BoxedValue(value))
    }
  }

  /// The object with that key, or nil. What is found is kept, so that the object's first read need
  /// not look again.
  func object(_ key: ObjectKey, existingIn binding: ClassBinding) -> ObjectBase? {
    let object = binding.reflection.type.init()
    attach(object, key, binding)
    let found = trapping { () throws(StorageError) in
      try locate(key, in: binding.classID, on: object)
    }
    guard found else { return nil }
    object._generation = unsafe context.pointee.generation
    binding.bind(object)
    if isNew(key, binding.classID) { object._createdInWrite = write.mark }
    return object
  }
}
