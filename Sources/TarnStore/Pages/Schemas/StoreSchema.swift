/// The classes of a file. They are data in the file, so that a tool can open any file without the
/// program that wrote it.
package struct StoreSchema: Equatable, Sendable {
  package var classes: [ClassSchema]
  package init(classes: [ClassSchema] = []) { self.classes = classes }

  /// The class of that name, or nil.
  package func named(_ name: String) -> ClassSchema? { classes.first { $0.name == name } }
  /// The class with that id, or nil. Ids are dense, and `classes` is in their order.
  package subscript(id: ClassID) -> ClassSchema? {
    let index = Int(id.rawValue)
    return index < classes.count ? classes[index] : nil
  }

  /// The classes, and those of the objects embedded in their objects, at any depth.
  package func withEmbedded(_ ids: Set<ClassID>) -> Set<ClassID> {
    var found = ids
    var pending = Array(ids)
    while let id = pending.popLast() {
      for column in self[id]?.columns ?? [] {
        guard !column.isRemoved, let target = column.target, self[target]?.isEmbedded == true,
          found.insert(target).inserted
        else { continue }
        pending.append(target)
      }
    }
    return found
  }
}
