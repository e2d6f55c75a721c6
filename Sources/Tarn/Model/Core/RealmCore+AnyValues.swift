import TarnStore

/// Stores `AnyRealmValue` values in rows.
extension RealmCore {
  func setAny(
    _ object: ObjectBase, _ column: ColumnID, _ boxed: _BoxedValue,
    _ update: Realm.UpdatePolicy = .error
  ) {
    object._writing(column, in: self)
    if object._isInvalidated(in: self) { object._trapInvalid() }
    let place = SequencePlace(
      classID: object._binding!.classID, key: ObjectKey(object._key), column: column)
    let row = ObjectRef(classID: place.classID, key: place.key)
    takingIn { session throws(StorageError) in
      let copy = copy(boxed, in: place, update)
      if update == .modified, try session.holds(copy, at: place) { return }
      try assigning(row, column, .null) { () throws(StorageError) in
        if try assign(copy, overValueAt: place, update) { return }
        object._setIndexed(column, try session.make(copy, in: place), in: self)
      }
    }
  }

  /// Changes the list or map of a property into another of its kind. Equal elements are left
  /// unchanged; with `.modified` they are not noted as assigned.
  ///
  /// - Returns: false if the old or the new value is something else.
  func assign(
    _ copy: CopiedValue, overValueAt place: SequencePlace, _ update: Realm.UpdatePolicy
  ) throws(StorageError) -> Bool {
    let session = writing("modify managed objects")
    guard let old = try session.value(of: place.column, at: place.key, in: place.classID),
      let changed = try session.assign(copy, over: old, at: place)
    else { return false }
    if !changed, update != .modified { session.noteAssigned(place) }
    return true
  }

  /// An `AnyRealmValue` in stored form, for a place: an unmanaged object is added first, a list or
  /// map copied into a new one, which the caller then puts there.
  func stored(
    _ boxed: _BoxedValue, in place: SequencePlace, _ update: Realm.UpdatePolicy
  ) -> Value {
    if let object = boxed.object { return storedLink(object, update) }
    if boxed.nested == nil { return boxed.value }
    // Read before anything is written: the copied value may be the one that is about to be
    // replaced.
    let copy = copy(boxed, in: place, update)
    let session = writing("modify managed objects")
    return trapping { () throws(StorageError) in try session.make(copy, in: place) }
  }

  /// An `AnyRealmValue` with everything in it. Unmanaged objects are added.
  ///
  /// - Parameter place: the place where it will be stored.
  func copy(
    _ boxed: _BoxedValue, in place: SequencePlace, _ update: Realm.UpdatePolicy
  ) -> CopiedValue {
    copy(boxed, depth: place.depth, update)
  }

  private func copy(
    _ boxed: _BoxedValue, depth: Int, _ update: Realm.UpdatePolicy
  ) -> CopiedValue {
    if let object = boxed.object { return .value(storedLink(object, update)) }
    guard let nested = boxed.nested else { return .value(boxed.value) }
    require(
      depth < SequencePlace.depthMax,
      "Lists and maps within values may be up to \(SequencePlace.depthMax) deep.")
    let keys = nested.kind == .map ? nested.allKeys : []
    let items = nested.all.map { copy($0, depth: depth + 1, update) }
    return nested.kind == .map ? .map(keys: keys, values: items) : .list(items)
  }

  private func storedLink(_ object: ObjectBase, _ update: Realm.UpdatePolicy) -> Value {
    trapping { () throws(StorageError) in try takeIn(object, update) }
    let id = object._binding!.classID
    require(
      !schemaToBind().isEmbedded(id),
      "An object of the embedded class '\(object._className)' cannot be an AnyRealmValue: it "
        + "belongs to the property that owns it. Copy its values.")
    return .object(id, ObjectKey(object._key))
  }

  /// An object of any class: of the program's class of that name, else a dynamic one.
  func object(_ key: ObjectKey, of id: ClassID) -> ObjectBase {
    object(key, ofClass: schemaToBind()[id].name)
  }

  func object(_ key: ObjectKey, ofClass name: String) -> ObjectBase {
    guard let type = classes.model[name]?.type else {
      return object(key, dynamicBinding(name))
    }
    return object(type, key)
  }
}
