/// The effects of a change on other objects, determined before it is made.
package struct AffectedObjects {
  /// The objects that will be deleted.
  package fileprivate(set) var gone: [ObjectRef] = []
  /// The properties that will lose something: they link to deleted objects, or own embedded ones
  /// that get another owner.
  package fileprivate(set) var holders: [LinkHolder] = []
}

/// A column of an object that has links.
package struct LinkHolder: Hashable, Comparable {
  package var classID: ClassID
  package var column: ColumnID
  package var key: ObjectKey

  package static func < (a: LinkHolder, b: LinkHolder) -> Bool {
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
    var known: Set<LinkHolder> = []
    for holder in try holders(of: doomed) + holders(of: taken) {
      guard known.insert(holder).inserted else { continue }
      result.holders.append(holder)
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

  private func holders(of taken: [ObjectRef]) throws(StorageError) -> [LinkHolder] {
    var holders: [LinkHolder] = []
    for object in taken {
      for link in schema.incoming(to: object.classID) {
        for key in try keys(linkingTo: object, in: link.origin, through: link.column) {
          holders.append(LinkHolder(classID: link.origin, column: link.column, key: key))
        }
      }
    }
    return holders
  }
}
