/// Verifies that every embedded object of a file has one owner, and that the outermost owner is not
/// embedded. Reports problems; changes nothing.
package struct OwnerCheck: SnapshotCheck {
  package internal(set) var problems: [String] = []

  private let reader: SnapshotReader
  private var owners: [ObjectRef: Owner] = [:]

  /// The owner of an embedded object.
  private struct Owner {
    /// The first one found.
    var object: ObjectRef
    var links: UInt64
    /// Whether it, or its outermost owner, is not embedded.
    var isRooted = false
  }

  package init(_ reader: SnapshotReader) {
    self.reader = reader
    let classes = reader.schema.schema.classes
    if !classes.contains(where: \.isEmbedded) { return }
    attempt("the owners of embedded objects") { check throws(StorageError) in
      for described in classes { try check.findOwned(by: described) }
      for described in classes where described.isEmbedded { try check.check(described) }
    }
  }

  private func name(_ object: ObjectRef) -> String {
    "object \(object.key.rawValue) of class \(reader.schema[object.classID].name)"
  }

  private func keys(of id: ClassID) throws(StorageError) -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: id) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    return keys
  }

  private mutating func findOwned(by described: ClassSchema) throws(StorageError) {
    let columns = described.columns.filter { column in
      !column.isRemoved && column.target.map { reader.schema.isEmbedded($0) } == true
    }
    if columns.isEmpty { return }
    for key in try keys(of: described.id) {
      let owner = ObjectRef(classID: described.id, key: key)
      for column in columns {
        if column.collection == .none {
          let value = try reader.value(of: column.id, at: key, in: described.id)
          if let target = value.flatMap({ column.linkTarget(of: $0) }) { add(target, owner, 1) }
          continue
        }
        for (target, count) in try reader.links(from: column, at: key, in: described.id) {
          add(target, owner, count)
        }
      }
    }
  }

  private mutating func add(_ target: ObjectRef, _ owner: ObjectRef, _ count: UInt64) {
    owners[target, default: Owner(object: owner, links: 0)].links += count
  }

  private mutating func check(_ described: ClassSchema) throws(StorageError) {
    for key in try keys(of: described.id) {
      let object = ObjectRef(classID: described.id, key: key)
      guard let owner = owners[object] else {
        note("\(name(object)) is embedded and has no owner")
        continue
      }
      if owner.links > 1 {
        note(
          "\(name(object)) is embedded and has \(owner.links) incoming links, one of them in "
            + name(owner.object))
      }
      if !isRooted(object) {
        note("\(name(object)) is embedded in an object that it owns")
      }
    }
  }

  /// False for an object in a cycle. An object without an owner is reported separately.
  private mutating func isRooted(_ object: ObjectRef) -> Bool {
    var way: [ObjectRef] = []
    var known: Set<ObjectRef> = []
    var next = object
    while let owner = owners[next], !owner.isRooted {
      guard known.insert(next).inserted else { return false }
      way.append(next)
      next = owner.object
    }
    for object in way { owners[object]?.isRooted = true }
    return true
  }
}
