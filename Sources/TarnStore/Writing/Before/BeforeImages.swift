/// The state before some commits that change records keep, by class: the values that the changes of
/// these commits removed or replaced.
///
/// A pure value that accompanies the `ChangeSet` of the same commits. It has only the values that
/// its level requires, which is given for each class when the commit is made.
package struct BeforeImages: Equatable, Sendable {
  /// In the order of the ids. A class without an entry has nothing to keep at any level, such as
  /// one that only got new objects.
  package internal(set) var classes: [ClassBefore] = []

  package init() {}

  /// The former values of a class; nil without any.
  package subscript(id: ClassID) -> ClassBefore? {
    let index = classes.partitioningIndex { $0.id >= id }
    return index < classes.count && classes[index].id == id ? classes[index] : nil
  }

  /// How much is kept of a class.
  package func level(of id: ClassID) -> BeforeLevel { self[id]?.level ?? .oldValues }

  /// These images, followed by those of later commits. Associative.
  ///
  /// - Parameter changes: the changes of the commits of these images.
  package func merging(_ later: BeforeImages, after changes: ChangeSet) -> BeforeImages {
    var result = BeforeImages()
    var mine = classes[...]
    for theirs in later.classes {
      while let next = mine.first, next.id < theirs.id { result.classes.append(mine.removeFirst()) }
      let isShared = mine.first?.id == theirs.id
      var merged = isShared ? mine.removeFirst() : ClassBefore(theirs.id, .oldValues)
      merged.merge(theirs, after: changes[theirs.id])
      result.classes.append(merged)
    }
    result.classes += mine
    return result
  }
}

extension ClassChanges {
  /// The level that is complete without any former values: nothing that it requires was removed or
  /// replaced.
  var levelWithoutImages: BeforeLevel {
    if isCleared || !deleted.isEmpty { return .none }
    return touched.isEmpty ? .oldValues : .deletedObjects
  }
}
