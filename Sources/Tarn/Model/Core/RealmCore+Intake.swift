import CTarn
import TarnStore

/// Adding unmanaged objects, with all objects that they link to. When objects are inserted into a
/// list, embedded objects that they have taken from that list are then removed from it.
extension RealmCore {
  /// Makes a change that may add unmanaged objects, and then stores the values of all of them.
  @discardableResult
  func takingIn<R>(
    _ change: (WriteSession) throws(StorageError) -> R
  ) -> R {
    guard let session else { trap("internal error: objects are added outside of a write") }
    return trapping { () throws(StorageError) in
      if write.isInLargerChange { return try change(session) }
      return try session.changing { () throws(StorageError) in
        write.isInLargerChange = true
        defer {
          write.isInLargerChange = false
          intake.close()
        }
        let result = try change(session)
        intake.lineUp()
        while let (next, behind) = intake.next() {
          try moveIn(next)
          intake.lineUp(broughtBefore: behind)
        }
        return result
      }
    }
  }

  /// Adds an object because another one links to it. Traps for an object that nothing in this Realm
  /// can link to.
  func takeIn(_ object: ObjectBase, _ update: Realm.UpdatePolicy) throws(StorageError) {
    if object._core != nil {
      checkLinkable(object)
      return refuseSecondOwner(of: object)
    }
    try giveRow(object, update == .error ? intake.policy : update)
  }

  /// The policy for a linked object: one without a primary key is always new.
  func policy(
    for object: ObjectBase, _ update: Realm.UpdatePolicy
  ) -> Realm.UpdatePolicy {
    let wanted = update == .error ? intake.policy : update
    return binding(of: type(of: object)).schema.primaryKey == nil ? .error : wanted
  }

  /// Traps for an embedded object that this change adds twice: neither of its two positions is
  /// clearly the intended one.
  private func refuseSecondOwner(of object: ObjectBase) {
    let row = ObjectRef(classID: object._binding!.classID, key: ObjectKey(object._key))
    require(
      !intake.holds(embedded: row),
      "An object of the embedded class '\(object._className)' is in two positions of the added "
        + "object. An embedded object has one position: make another object for the second one.")
  }

  /// Gives an unmanaged object its row: an existing one with its primary key, or a new one.
  func giveRow(_ object: ObjectBase, _ update: Realm.UpdatePolicy) throws(StorageError) {
    require(
      !(object is DynamicObject),
      "A DynamicObject cannot be added: create one with dynamicCreate(_:value:update:).")
    if object._state.contains(.observed) { object._refuseObserved() }
    let session = writing("add objects")
    let binding = binding(of: type(of: object))
    let primaryKey = binding.primaryKey(of: object)
    if let primaryKey,
      let existing = try session.find(primaryKey: primaryKey, in: binding.classID)
    {
      if update == .error { trapDuplicate(primaryKey, binding) }
      return merge(object, into: existing, update)
    }
    let row = try inserting(into: binding.classID) { () throws(StorageError) in
      try session.create(primaryKey: primaryKey, in: binding.classID)
    }
    object._attach(to: self, row.key, binding)
    object._createdInWrite = write.mark
    unsafe object._working = unsafe Unmanaged.passUnretained(row.cluster)
    unsafe object._image = unsafe tarn_cluster_empty()
    object._slot = UInt32(row.slot)
    object._generation = unsafe context.pointee.generation
    noteAdded(object)
    if object is EmbeddedObject {
      intake.append(embedded: ObjectRef(classID: binding.classID, key: row.key))
    }
    binding.moveScalars(object)
    for column in session.schema.indexed(in: binding.classID)
    where column.filesAll && column.id != binding.schema.primaryKey {
      let value = try session.value(of: column.id, at: row.key, in: binding.classID)
      guard let value else { continue }
      try session.insertIndexEntry(value, of: column.id, at: row.key, in: binding.classID)
    }
    guard binding.hasLinks else { return }
    intake.append(
      ArrivingObject(object: object, binding: binding, policy: update, isMerged: false))
  }

  /// Notes an object that the open write has just made managed.
  func noteAdded(_ object: ObjectBase) {
    if configuration.returnsObjectsOfCancelledWrites { write.noteAdded(object) }
  }

  /// Makes an unmanaged object an accessor of a row that its values will be written over.
  func merge(_ object: ObjectBase, into key: ObjectKey, _ update: Realm.UpdatePolicy) {
    if object._state.contains(.observed) { object._refuseObserved() }
    let binding = binding(of: type(of: object))
    object._attach(to: self, key, binding)
    if isNew(key, binding.classID) { object._createdInWrite = write.mark }
    intake.append(
      ArrivingObject(object: object, binding: binding, policy: update, isMerged: true))
  }

  private func moveIn(_ next: ArrivingObject) throws(StorageError) {
    let outer = intake.use(next.policy)
    defer { _ = intake.use(outer) }
    if next.isMerged { try writeOver(next) } else { next.binding.moveLinks(next.object) }
  }

  /// Writes an object's values into an existing row: all of them, or the differences.
  private func writeOver(_ next: ArrivingObject) throws(StorageError) {
    let (object, binding, update) = (next.object, next.binding, next.policy)
    let (id, key) = (binding.classID, ObjectKey(object._key))
    // For an object made from values, the properties that the values name.
    let given = intake.given(object)
    var singles: [(property: PropertyReflection, column: ColumnID, boxed: _BoxedValue)] = []
    var collections: [(column: ColumnID, collection: any ArrivingCollection)] = []
    // Its values are still read as those of an unmanaged object.
    unsafe object._context = nil
    for (property, column) in binding.columns
    where column != binding.schema.primaryKey && given?.contains(property.name) ?? true {
      if property.collection == .none {
        singles.append((property, column, property.readBoxed(object)))
      } else if let collection = property.read(object) as? any ArrivingCollection {
        collections.append((column, collection))
      }
    }
    unsafe object._context = unsafe context
    binding.bind(object)
    for (property, column, boxed) in singles {
      let place = SequencePlace(classID: id, key: key, column: column)
      try set(boxed, property, at: place, update)
    }
    for (column, collection) in collections {
      collection.becomeManaged(object, column, update: update)
    }
    binding.forgetValues(of: object)
  }

  private func set(
    _ boxed: _BoxedValue, _ property: PropertyReflection, at place: SequencePlace,
    _ update: Realm.UpdatePolicy
  ) throws(StorageError) {
    let session = writing("add objects")
    if property.type == .any { return try setAny(boxed, at: place, update, session) }
    let old = try session.value(of: place.column, at: place.key, in: place.classID)
    var value = boxed.value
    if let target = boxed.object {
      if target._core == nil, update == .modified, target is EmbeddedObject,
        case .link(let there)? = old
      {
        // An embedded object has no primary key: the one at the same position counts as the same
        // object.
        return merge(target, into: there, update)
      }
      try takeIn(target, update)
      value = .link(ObjectKey(target._key))
    }
    if update == .modified, old == value { return }
    let row = ObjectRef(classID: place.classID, key: place.key)
    try assigning(row, place.column, value) { () throws(StorageError) in
      try session.set(place.column, at: place.key, in: place.classID, to: value)
    }
  }

  private func setAny(
    _ boxed: _BoxedValue, at place: SequencePlace, _ update: Realm.UpdatePolicy,
    _ session: WriteSession
  ) throws(StorageError) {
    let copy = copy(boxed, in: place, update)
    if update == .modified, try session.holds(copy, at: place) { return }
    let row = ObjectRef(classID: place.classID, key: place.key)
    try assigning(row, place.column, .null) { () throws(StorageError) in
      if try assign(copy, overValueAt: place, update) { return }
      let value = try session.make(copy, in: place)
      try session.set(place.column, at: place.key, in: place.classID, to: value)
    }
  }
}

extension RealmCore {
  func trapDuplicate(_ primaryKey: Value, _ binding: ClassBinding) -> Never {
    trap(duplicate(primaryKey, binding, path: "").description)
  }

  func duplicate(
    _ primaryKey: Value, _ binding: ClassBinding, path: String
  ) -> Realm.InvalidValue {
    let name = binding.primaryKey?.name
    return Realm.InvalidValue(
      .duplicatePrimaryKey, binding.schema.name, name, path: path,
      value: ShownValue(stored: primaryKey))
  }
}

/// A collection of an unmanaged object, which becomes managed with the object.
protocol ArrivingCollection {
  func becomeManaged(_ object: ObjectBase, _ column: ColumnID, update: Realm.UpdatePolicy)
}
