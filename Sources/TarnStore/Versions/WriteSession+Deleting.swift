/// How objects go: with what belongs to them, and without leaving links behind.
extension WriteSession {
  /// Removes an object: links to it become null, its own entries leave their indexes, objects
  /// that belong to it go, too. False if there is none.
  @discardableResult
  package func delete(_ key: ObjectKey, in id: ClassID) throws(StorageError) -> Bool {
    guard try place(of: key, in: id) != nil else { return false }
    // A list and no recursion: chains of objects that belong to each other may be long.
    var pending = [LinkTarget(classID: id, key: key)]
    while let next = pending.popLast() {
      guard try place(of: next.key, in: next.classID) != nil else { continue }
      pending += try owned(by: next)
      try deleteOne(next)
    }
    return true
  }

  /// The objects that are deleted with that one.
  private func owned(by object: LinkTarget) throws(StorageError) -> [LinkTarget] {
    var result: [LinkTarget] = []
    for column in schema.owning(in: object.classID) where column.collection == .none {
      let value = try value(of: column.id, at: object.key, in: object.classID)
      if let target = value.flatMap({ column.linkTarget(of: $0) }) { result.append(target) }
    }
    return result
  }

  private func deleteOne(_ object: LinkTarget) throws(StorageError) {
    try forgetLinks(to: object)
    let (id, key) = (object.classID, object.key)
    for column in schema.indexed(in: id) where column.collection == .none {
      guard let old = try value(of: column.id, at: key, in: id) else { continue }
      try unfile(old, of: column.id, at: key, in: id)
    }
    try dropSequences(of: key, in: id)
    try removeRow(key, in: id)
  }

  /// Takes an object out of everything that links to it.
  private func forgetLinks(to object: LinkTarget) throws(StorageError) {
    for link in schema.incoming(to: object.classID) + schema.anyColumns {
      var last: ObjectKey?
      for origin in try origins(of: object, in: link.origin, through: link.column)
      where origin != last {
        last = origin
        try removeLinks(to: object, from: link.column, at: origin, in: link.origin)
      }
    }
  }

  /// Removes every object of the class.
  package func clear(_ id: ClassID) throws(StorageError) {
    for link in schema.incoming(to: id) where link.origin != id {
      try forgetLinks(link)
    }
    for link in schema.anyColumns where link.origin != id { try forgetObjects(of: id, link) }
    let owned = try ownedByAll(of: id)
    for column in schema[id].columns where column.type == .link && !column.isRemoved {
      try noteTargets(of: column, in: id)
    }
    try dropSequences(in: id)
    let edit = try classEdit(id)
    edit.clear()
    rowsMoved()
    longValues.clear(id)
    linkCounts.clear(id)
    recorder.clear(id)
    for target in owned { try delete(target.key, in: target.classID) }
  }

  /// The objects of other classes that are deleted with those of a class.
  private func ownedByAll(of id: ClassID) throws(StorageError) -> [LinkTarget] {
    var result: [LinkTarget] = []
    for column in schema.owning(in: id)
    where column.collection == .none && column.target != id {
      try forEachLink(in: column, of: id) { _, target in result.append(target) }
    }
    return result
  }

  /// Sets every link of a column to null, because all of its targets go.
  private func forgetLinks(_ link: SchemaView.LinkColumn) throws(StorageError) {
    let column = schema[link.origin][link.column]
    var origins: [ObjectKey] = []
    try forEachLink(in: column, of: link.origin) { origin, _ in origins.append(origin) }
    for origin in origins {
      guard let (cluster, slot) = try edit(origin, in: link.origin) else { continue }
      let old = try cluster.value(column, slot)
      cluster.set(link.column, slot, .null)
      recorder.touch(link.origin, origin, link.column)
      if let old { try unfile(old, of: link.column, at: origin, in: link.origin) }
    }
  }

  /// Sets every value of any type to null that is an object of a class all of which goes.
  private func forgetObjects(
    of id: ClassID, _ link: SchemaView.LinkColumn
  ) throws(StorageError) {
    let column = schema[link.origin][link.column]
    var found: [(ObjectKey, LinkTarget)] = []
    try forEachImage(in: link.origin) { image throws(StorageError) in
      for slot in 0..<image.rowCount {
        guard let value = try image.value(column, slot) else { continue }
        guard let target = column.linkTarget(of: value), target.classID == id else { continue }
        found.append((image.key(at: slot), target))
      }
      return true
    }
    for (origin, target) in found {
      try removeLinks(to: target, from: link.column, at: origin, in: link.origin)
    }
  }

  /// Tells every target of a column that an origin goes.
  private func noteTargets(of column: ColumnSchema, in id: ClassID) throws(StorageError) {
    guard column.target != id, column.collection == .none else { return }
    try forEachLink(in: column, of: id) { _, target in
      recorder.backTouch(target.classID, target.key, origin: id, column: column.id)
    }
  }

  /// Calls `body` with the origin and target of every to-one link of a column.
  private func forEachLink(
    in column: ColumnSchema, of id: ClassID, _ body: (ObjectKey, LinkTarget) -> Void
  ) throws(StorageError) {
    guard let target = column.target else { return }
    try forEachImage(in: id) { image throws(StorageError) in
      for slot in 0..<image.rowCount where !image.isNull(column.id, slot) {
        let key = ObjectKey(image.int(column.id, slot))
        body(image.key(at: slot), LinkTarget(classID: target, key: key))
      }
      return true
    }
  }
}
