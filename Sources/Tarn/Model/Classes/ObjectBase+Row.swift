import CTarn
import TarnStore

/// The row of a managed object at its instance's version.
extension ObjectBase {
  /// The object's instance. Traps for an unmanaged object.
  @inline(__always)
  private final var managing: Instance {
    guard let _instance else { trap("internal error: an unmanaged object has no row") }
    return _instance
  }

  /// The slow path of every read: checks the thread, finds the row at the instance's version.
  ///
  /// Traps if the row does not exist, the Realm was invalidated, or this is the wrong thread. Runs
  /// no user code: the getters promise that, and so, with "releasenone", the caller need not retain
  /// the object around a read.
  @_effects(releasenone) @inline(never) @usableFromInline
  final func _locate() {
    let instance = managing
    if instance.isFrozen {
      if _isInvalidated(in: instance) { _trapInvalid() }
      return
    }
    _warmColumns = 0
    instance.checkThread()
    if !find(in: instance) { _trapInvalid() }
  }

  final func _trapInvalid() -> Never {
    if let damage {
      trap(
        "Tarn cannot continue: the file is damaged: \(damage). `tarn inspect --check` checks "
          + "all of it.")
    }
    trap(
      "Object has been deleted or invalidated: an object of class '\(_className)' was used "
        + "afterwards. Check isInvalidated first.")
  }

  /// The reason why an existing row cannot be found; nil for a deleted one.
  private final var damage: String? {
    guard let instance = _instance, _life == instance.state.life,
      _createdInWrite?.wasCancelled != true, instance.frozen?.isInvalidated != true,
      let id = _binding?.classID,
      let reader = instance.session?.reader ?? instance.reader
        ?? instance.frozen.map(instance.shown)
    else { return nil }
    return reader.damage(behindMissing: ObjectKey(_key), in: id)
  }

  /// Updates the accessor's row. False if the row does not exist.
  private final func find(in instance: Instance) -> Bool {
    if _state.contains(.invalidated) { return false }
    guard _life == instance.state.life, _createdInWrite?.wasCancelled != true else {
      _state.insert(.invalidated)
      return false
    }
    let found = trapping { () throws(StorageError) in
      try _findRow(ObjectKey(_key), in: _binding!.classID, of: instance)
    }
    if found {
      _generation = unsafe instance.context.pointee.generation
    } else if instance.session == nil {
      _state.insert(.invalidated)
    }
    return found
  }

  /// Makes the accessor one of the row with that key. False if the row does not exist.
  final func _findRow(
    _ key: ObjectKey, in id: ClassID, of instance: Instance
  ) throws(StorageError) -> Bool {
    guard let session = instance.session else {
      guard let (image, slot) = try instance.shown().row(key, in: id) else { return false }
      show(image, slot, instance)
      return true
    }
    guard let (cluster, slot) = try session.location(of: key, in: id) else { return false }
    if let image = cluster.image { show(image, slot, instance) }
    if let working = cluster.working { show(working, slot) }
    return true
  }

  private final func show(_ cluster: WorkingCluster, _ slot: Int) {
    unsafe _image = unsafe tarn_cluster_empty()
    unsafe _working = unsafe Unmanaged.passUnretained(cluster)
    _slot = UInt32(slot)
  }

  private final func show(_ image: ClusterImage, _ slot: Int, _ instance: Instance) {
    // If reads are tracked, all of them take the slow path.
    unsafe _image =
      instance.tracking == nil ? unsafe image.address : unsafe tarn_cluster_empty()
    unsafe _working = nil
    _slot = UInt32(slot)
  }

  /// True if the open write has the row in the cluster at that address, where the object looks for
  /// it. Does not read from there.
  final func _isWritten(in cluster: UnsafeMutableRawPointer) -> Bool {
    guard let session = _instance?.session, let id = _binding?.classID,
      let (found, slot) = try? session.location(of: ObjectKey(_key), in: id),
      let working = found.working
    else { return false }
    return unsafe Unmanaged.passUnretained(working).toOpaque() == cluster && slot == _slot
  }

  /// True if the row of a managed object does not exist at its version. Traps on the wrong thread.
  final var _isInvalidated: Bool { _instance.map { _isInvalidated(in: $0) } ?? false }

  final func _isInvalidated(in instance: Instance) -> Bool {
    instance.checkThread()
    if let frozen = instance.frozen { return frozen.isInvalidated || _state.contains(.invalidated) }
    if _state.contains(.invalidated) { return true }
    if unsafe _generation == instance.context.pointee.generation { return false }
    return !find(in: instance)
  }

  /// The row of a managed object; nil for an unmanaged one.
  final var _row: ObjectRef? {
    _binding.map { ObjectRef(classID: $0.classID, key: ObjectKey(_key)) }
  }

  // MARK: - Setting properties

  // These take the instance, so that it need not be retained for each step of an assignment.

  /// The open write, to set a property. Traps outside of one.
  @discardableResult
  final func _writing(_ column: ColumnID, in instance: Instance) -> WriteSession {
    if instance.isFrozen { instance.trapFrozen("Cannot set \(_propertyName(column.rawValue)) of") }
    return instance.writing("modify managed objects")
  }

  /// The place to write a property that has neither index nor link; notes it as touched.
  final func _edit(
    _ column: ColumnID, in instance: Instance
  ) -> (cluster: WorkingCluster, slot: Int) {
    let session = _writing(column, in: instance)
    if unsafe _generation != instance.context.pointee.generation, !find(in: instance) {
      _trapInvalid()
    }
    let (id, key) = (_binding!.classID, ObjectKey(_key))
    let row = trapping { () throws(StorageError) in try session.edit(column, at: key, in: id) }
    guard let row else { _trapInvalid() }
    show(row.cluster, row.slot)
    _generation = unsafe instance.context.pointee.generation
    return row
  }

  /// Sets a property whose column has an index. The caller notifies its observers.
  final func _setIndexed(_ column: ColumnID, _ value: Value, in instance: Instance) {
    let session = _writing(column, in: instance)
    if _isInvalidated(in: instance) { _trapInvalid() }
    let done = trapping { () throws(StorageError) in
      try session.set(column, at: ObjectKey(_key), in: _binding!.classID, to: value)
    }
    if !done { _trapInvalid() }
  }

  /// Makes an assignment to a property that is not a link to an embedded object.
  ///
  /// - Parameter store: makes it. Its argument is whether the object has no observers.
  final func _assigning(
    _ column: ColumnID, in instance: Instance, _ table: PropertyTable, _ store: (Bool) -> Void
  ) {
    let row = ObjectRef(classID: _binding!.classID, key: ObjectKey(_key))
    guard table.watches(row) else { return store(instance.tracking == nil) }
    checkAssignable(column, in: instance)
    instance.telling([PropertyEffect(row, column)], table) { store(false) }
  }

  /// Assigns a value in stored form; null for one that is not stored yet.
  final func _assigning(
    _ column: ColumnID, _ value: Value, in instance: Instance, _ table: PropertyTable,
    _ store: () -> Void
  ) {
    checkAssignable(column, in: instance)
    let row = ObjectRef(classID: _binding!.classID, key: ObjectKey(_key))
    let effects = table.effects(ofSetting: column, of: row, to: value, in: instance.session)
    instance.telling(effects, table, store)
  }

  private final func checkAssignable(_ column: ColumnID, in instance: Instance) {
    _writing(column, in: instance)
    _binding!.checkAssignable(column, on: self)
    if _isInvalidated(in: instance) { _trapInvalid() }
  }

  // MARK: - Reading

  /// Notes that a property is read.
  ///
  /// - Returns: the image that the row is in; nil if it is under edit.
  final func _image(_ column: ColumnID, noting tracking: Tracking) -> UnsafeRawPointer? {
    guard let instance = _instance, let row = _row else { return nil }
    tracking.note(.property(row, column))
    if unsafe _working != nil { return nil }
    return unsafe trapping { () throws(StorageError) in
      guard let session = instance.session else {
        return unsafe try instance.shown().row(row.key, in: row.classID)?.0.address
      }
      return unsafe try session.location(of: row.key, in: row.classID)?.cluster.image?.address
    }
  }

  /// The value of the row in a column.
  final func _storedValue(_ column: ColumnID) -> Value? {
    managing.value(
      of: column, of: ObjectRef(classID: _binding!.classID, key: ObjectKey(_key)))
  }

  /// The bytes of a value that is stored in pieces.
  final func _longBytes(_ column: ColumnID) -> [UInt8] {
    let (instance, id, key) = (managing, _binding!.classID, ObjectKey(_key))
    return trapping { () throws(StorageError) in
      if let session = instance.session {
        return try session.longBytes(of: column, at: key, in: id)
      }
      return try instance.shown().longBytes(of: column, at: key, in: id)
    }
  }

  // MARK: - Becoming managed

  /// Makes the object an accessor of a row, which is looked up at its next use.
  final func _attach(to instance: Instance, _ key: ObjectKey, _ binding: ClassBinding) {
    _key = key.rawValue
    _binding = binding
    _instance = instance
    _life = instance.state.life
    _generation = 0
    unsafe _context = unsafe instance.context
    if instance.isFrozen { _state = .frozen }
  }

  /// Finds the row of an accessor of a frozen instance. It is never looked up again, so that any
  /// number of threads can read through the accessor.
  final func _locateForGood(in instance: Instance) {
    let isThere = trapping { () throws(StorageError) in
      try _findRow(ObjectKey(_key), in: _binding!.classID, of: instance)
    }
    if !isThere { _state.insert(.invalidated) }
    _generation = unsafe instance.context.pointee.generation
  }

  /// Traps for a frozen object where one of a live instance is needed.
  final func _refuseFrozen() {
    guard _state.contains(.frozen) else { return }
    trap(
      "A frozen object of class '\(_className)' cannot become part of a live Realm, nor be deleted "
        + "from it. Call thaw() first, and use the object that it returns.")
  }
}

extension ClusterImage {
  fileprivate var address: UnsafeRawPointer? { unsafe bytes.baseAddress }
}
