import TarnStore

/// Links that wait for their targets.
extension ReplicaEdit {
  /// Sets the links that waited for an object, unless the file has written them since.
  func join(_ row: Value, _ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) {
    guard let wire = WireValue(row) else { return }
    try join(wire, key, one.id)
  }

  /// Sets the links of an object that wait for targets that the server has.
  func joinLinks(of object: ObjectRef) throws(StorageError) {
    for waiting in try WaitingLinks.links(of: object, objects) {
      guard let column = session.schema[waiting.target].primaryKey,
        let value = WireValue(waiting.key).value(session.schema[waiting.target][column].type),
        let target = try session.find(primaryKey: value, in: waiting.target),
        try objects[waiting.target, target] != nil
      else { continue }
      try join(WireValue(waiting.key), target, waiting.target)
    }
  }

  private func join(
    _ wire: WireValue, _ key: ObjectKey, _ target: ClassID
  ) throws(StorageError) {
    for waiting in try WaitingLinks.links(to: target, wire.bytes, objects) {
      let (id, holder) = (waiting.place.object.classID, waiting.place.object.key)
      let known = try objects[id, holder]
      let pending = try unsent.pending(of: holder, in: id, after: known?.void ?? 0)
      // An object that was deleted here keeps its links on the server until the deletion arrives
      // there.
      if try !exists(holder, in: id) { continue }
      if let coder = ContentCoder(session.schema[id][waiting.place.column], session.schema.schema) {
        let place = SequencePlace(classID: id, key: holder, column: waiting.place.column)
        waitingContents.append((place, coder))
        continue
      }
      if pending.isCreated || pending.columns.contains(waiting.place.column) { continue }
      try WaitingLinks.set(nil, at: waiting.place, &objects)
      // The file may have set another link since.
      let present = try session.value(of: waiting.place.column, at: holder, in: id)
      if present == .null { try setLink(.link(key), waiting.place) }
    }
  }

  /// Whether a link is nil because an unsent commit has deleted its target: that is not a change of
  /// the link.
  func isDerived(
    _ key: ObjectKey, _ property: ExchangeClass.Property, _ one: ReplicaClass
  ) throws(StorageError) -> Bool {
    let place = WaitingLinks.Place(
      object: ObjectRef(classID: one.id, key: key), column: property.id)
    guard try session.value(of: property.id, at: key, in: one.id) == .null else { return false }
    return try linksToDeleted().places.contains(place)
  }

  /// Records that the server has no link in a property whose target an unsent commit has deleted,
  /// so that no link waits there once the deletion is sent.
  func noteCut(_ place: WaitingLinks.Place) throws(StorageError) {
    guard try linksToDeleted().places.contains(place) else { return }
    let (id, key) = (place.object.classID, place.object.key)
    var table = try objects.contents(of: key, in: id)
    table[place.column] = [
      KeptContent(version: snapshot.version.rawValue, stamp: Stamp(0, by: 0), server: WireValue([]))
    ]
    objects.set(table, of: key, in: id)
  }

  /// Whether a link can wait in a property: it has parts, or no other link.
  func isOpen(_ place: WaitingLinks.Place) throws(StorageError) -> Bool {
    let (id, key) = (place.object.classID, place.object.key)
    let column = session.schema[id][place.column]
    if ContentCoder(column, session.schema.schema) != nil { return true }
    return try session.value(of: column.id, at: key, in: id) ?? .null == .null
  }

  /// Stores the content of a property with unsent changes from which a link was removed: these
  /// began with the link.
  func keepShown(_ place: WaitingLinks.Place) throws(StorageError) {
    let (id, key) = (place.object.classID, place.object.key)
    guard let coder = ContentCoder(session.schema[id][place.column], session.schema.schema) else {
      return
    }
    let pending = try unsent.pending(of: key, in: id, after: objects[id, key]?.void ?? 0)
    guard pending.isCreated || pending.columns.contains(place.column) else { return }
    waitingContents.append((SequencePlace(classID: id, key: key, column: place.column), coder))
  }
}
