/// Deleting objects, with the objects that they own, and without leaving links behind.
extension WriteSession {
  /// Deletes an object: links to it become null, its entries are removed from indexes, and objects
  /// that it owns are deleted, too. False if it does not exist.
  @discardableResult
  package func delete(_ key: ObjectKey, in id: ClassID) throws(StorageError) -> Bool {
    guard try location(of: key, in: id) != nil else { return false }
    try delete([key], in: id)
    return true
  }

  /// Deletes those of the objects that exist; each collection that links to some of them is
  /// processed once.
  package func delete(_ keys: [ObjectKey], in id: ClassID) throws(StorageError) {
    let doomed = try withOwned(keys.map { ObjectRef(classID: id, key: $0) })
    try changing { () throws(StorageError) in
      try forgetLinks(to: doomed)
      for object in doomed.list { try deleteRow(object) }
    }
  }

  /// Objects that are about to be deleted.
  struct DeletionSet {
    var list: [ObjectRef] = []
    private var set: Set<ObjectRef> = []

    /// False if it is included already.
    mutating func insert(_ object: ObjectRef) -> Bool {
      guard set.insert(object).inserted else { return false }
      list.append(object)
      return true
    }
    func contains(_ object: ObjectRef) -> Bool { set.contains(object) }
  }

  /// Those of the objects that exist, and all that they own.
  func withOwned(_ objects: [ObjectRef]) throws(StorageError) -> DeletionSet {
    var doomed = DeletionSet()
    // Iterative, because chains of ownership may be long.
    var pending = objects
    while let next = pending.popLast() {
      guard try location(of: next.key, in: next.classID) != nil, doomed.insert(next) else {
        continue
      }
      for column in schema.owning(in: next.classID) {
        try forEachTarget(of: column, at: next.key, in: next.classID) { pending.append($0) }
      }
    }
    return doomed
  }

  /// The objects that a link column of an object links to.
  private func forEachTarget(
    of column: ColumnSchema, at key: ObjectKey, in id: ClassID, _ body: (ObjectRef) -> Void
  ) throws(StorageError) {
    guard column.collection != .none else {
      let value = try value(of: column.id, at: key, in: id)
      if let target = value.flatMap({ column.linkTarget(of: $0) }) { body(target) }
      return
    }
    let place = SequencePlace(classID: id, key: key, column: column.id)
    guard let sequence = try sequence(at: place) else { return }
    try sequence.forEach(in: 0..<sequence.count) { value in
      if let target = column.linkTarget(of: value) { body(target) }
      return true
    }
  }

  private func deleteRow(_ object: ObjectRef) throws(StorageError) {
    let (id, key) = (object.classID, object.key)
    for column in schema.indexed(in: id) where column.collection == .none {
      guard let old = try value(of: column.id, at: key, in: id) else { continue }
      try removeIndexEntry(old, of: column.id, at: key, in: id)
    }
    try dropSequences(of: key, in: id)
    try removeRow(key, in: id)
  }

  /// Removes links to deleted objects from everything that stays.
  private func forgetLinks(to doomed: DeletionSet) throws(StorageError) {
    for origin in try linkOrigins(of: doomed) {
      try removeLinks(from: origin.column, at: origin.key, in: origin.classID) {
        doomed.contains($0)
      }
    }
  }

  /// Everything that stays and links to deleted objects; each once.
  func linkOrigins(of doomed: DeletionSet) throws(StorageError) -> [LinkOrigin] {
    var found: [LinkOrigin] = []
    var known: Set<LinkOrigin> = []
    for object in doomed.list {
      for link in schema.incoming(to: object.classID) + schema.anyColumns {
        let origins = try keys(linkingTo: object, in: link.origin, through: link.column)
        for origin in origins
        where !doomed.contains(ObjectRef(classID: link.origin, key: origin)) {
          let one = LinkOrigin(classID: link.origin, column: link.column, key: origin)
          if known.insert(one).inserted { found.append(one) }
        }
      }
    }
    return found
  }

  // MARK: - Whole classes

  /// Deletes every object of the class.
  package func clear(_ id: ClassID) throws(StorageError) { try clear([id]) }

  /// Deletes every object of the classes. Links among them are not processed.
  package func clear(_ ids: [ClassID]) throws(StorageError) {
    let cleared = Set(ids)
    try changing { () throws(StorageError) in
      var owned: [ClassID: [ObjectKey]] = [:]
      for id in ids {
        for link in schema.incoming(to: id) + schema.anyColumns
        where !cleared.contains(link.origin) {
          try forgetAll(of: id, link)
        }
        try gatherOwned(by: id, notIn: cleared, &owned)
        try noteTargets(of: id, notIn: cleared)
        try dropSequences(in: id)
        let edit = try classEdit(id)
        edit.clear()
        rowsMoved()
        madeLongValues?.clear(id)
        madeLinkCounts?.clear(id)
        recorder.clear(id)
      }
      for (target, keys) in owned { try delete(keys, in: target) }
    }
  }

  /// The objects of other classes that are deleted with those of a class.
  func gatherOwned(
    by id: ClassID, notIn cleared: Set<ClassID>, _ owned: inout [ClassID: [ObjectKey]]
  ) throws(StorageError) {
    let owning = schema.owning(in: id).filter { !cleared.contains($0.target!) }
    guard !owning.isEmpty else { return }
    for column in owning {
      for key in try keys(of: id, holding: column) {
        try forEachTarget(of: column, at: key, in: id) {
          owned[$0.classID, default: []].append($0.key)
        }
      }
    }
  }

  /// Removes all links to a class from a column of another, because all its objects are deleted.
  private func forgetAll(
    of id: ClassID, _ link: SchemaView.LinkColumn
  ) throws(StorageError) {
    let column = schema[link.origin][link.column]
    for origin in try keys(of: link.origin, holding: column) {
      try removeLinks(from: link.column, at: origin, in: link.origin) { $0.classID == id }
    }
  }

  /// Records for the targets of a class's links that all origins are deleted. Collections record it
  /// themselves when they are dropped.
  private func noteTargets(
    of id: ClassID, notIn cleared: Set<ClassID>
  ) throws(StorageError) {
    for column in schema[id].columns
    where !column.isRemoved && column.collection == .none
      && (column.type == .any || column.type == .link && !cleared.contains(column.target!))
    {
      for key in try keys(of: id, holding: column) {
        try forEachTarget(of: column, at: key, in: id) {
          recorder.backTouch($0.classID, $0.key, origin: id, column: column.id)
        }
      }
    }
  }

  /// The objects that may have a value in a column of links or mixed values: one pass over the
  /// column, without reading the values. The rows do not yet have this write's changes of
  /// collections, so objects with changed elements are included.
  func keys(
    of id: ClassID, holding column: ColumnSchema
  ) throws(StorageError) -> [ObjectKey] {
    let isLink = column.collection == .none && column.type == .link
    let changed =
      column.collection == .none ? nil : madeSequences?.changedKeys(of: id, column.id)
    var keys: [ObjectKey] = []
    try forEachImage(in: id) { image throws(StorageError) in
      for slot in 0..<image.rowCount {
        let holds =
          if isLink {
            !image.isNull(column.id, slot)
          } else {
            switch try image.bytes(column.id, slot) {
            case .null: false
            case .inline(let bytes): unsafe !bytes.isEmpty
            case .long: true
            }
          }
        let key = image.key(at: slot)
        if holds || changed?.contains(key) == true { keys.append(key) }
      }
      return true
    }
    return keys
  }
}

/// The effects of a change on other objects, determined before it is made.
package struct AffectedObjects {
  /// The objects that will be deleted.
  package fileprivate(set) var gone: [ObjectRef] = []
  /// The properties that will lose something: they link to deleted objects, or own embedded ones
  /// that get another owner.
  package fileprivate(set) var origins: [LinkOrigin] = []
}

/// A column of an object that has links.
package struct LinkOrigin: Hashable, Comparable {
  package var classID: ClassID
  package var column: ColumnID
  package var key: ObjectKey

  package static func < (a: LinkOrigin, b: LinkOrigin) -> Bool {
    (a.classID, a.column, a.key) < (b.classID, b.column, b.key)
  }
}

extension WriteSession {
  /// The effects of deleting objects, and of giving embedded ones another owner.
  package func bystanders(
    ofDeleting objects: [ObjectRef], taking taken: [ObjectRef] = []
  ) throws(StorageError) -> AffectedObjects {
    let doomed = try withOwned(objects)
    var result = AffectedObjects()
    result.gone = doomed.list
    var known: Set<LinkOrigin> = []
    for origin in try linkOrigins(of: doomed) + linkOrigins(of: taken) {
      guard known.insert(origin).inserted else { continue }
      result.origins.append(origin)
    }
    return result
  }

  /// The objects of other classes that are deleted with all objects of these.
  package func owned(byAllOf ids: [ClassID]) throws(StorageError) -> [ObjectRef] {
    let cleared = Set(ids)
    var owned: [ClassID: [ObjectKey]] = [:]
    for id in ids { try gatherOwned(by: id, notIn: cleared, &owned) }
    let all = owned.flatMap { id, keys in keys.map { ObjectRef(classID: id, key: $0) } }
    return try withOwned(all).list
  }

  private func linkOrigins(of taken: [ObjectRef]) throws(StorageError) -> [LinkOrigin] {
    var origins: [LinkOrigin] = []
    for object in taken {
      for link in schema.incoming(to: object.classID) {
        for key in try keys(linkingTo: object, in: link.origin, through: link.column) {
          origins.append(LinkOrigin(classID: link.origin, column: link.column, key: key))
        }
      }
    }
    return origins
  }
}
