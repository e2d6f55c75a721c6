import TarnStore

/// The records about the objects of a push that are stored once the server has accepted it.
struct ReplicaOutcome {
  /// The entries of objects; nil for objects that the server has deleted.
  var objects: [(class: ClassID, key: ObjectKey, object: ReplicaObject?)] = []
  /// The contents of lists, sets and maps to store.
  var contents: [(class: ClassID, key: ObjectKey, table: KeptContent.Table)] = []
  /// Links to the objects that it deletes, which are restored with them.
  var waiting: [WaitingLinks.Waiting] = []
  /// The objects whose joined changes it contains.
  var joined: [ObjectRef] = []

  var isEmpty: Bool { objects.isEmpty && contents.isEmpty && waiting.isEmpty }

  /// Sets the objects' incarnations to those on the server.
  mutating func correct(_ incarnations: [ObjectRef: Int64]) {
    for index in objects.indices {
      let object = ObjectRef(classID: objects[index].class, key: objects[index].key)
      if let known = incarnations[object] { objects[index].object?.incarnation = known }
    }
  }
}

extension ReplicaObjects {
  mutating func take(_ outcome: ReplicaOutcome, _ schema: StoreSchema) throws(StorageError) {
    for link in outcome.waiting { try WaitingLinks.add(link, schema, &self) }
    for (id, key, object) in outcome.objects {
      if let object {
        try set(object, key, in: id)
      } else {
        try forget(key, in: id)
      }
    }
    for (id, key, table) in outcome.contents { set(table, of: key, in: id) }
    for object in outcome.joined { set(JoinedChanges.key(object.classID, object.key), nil) }
  }
}
