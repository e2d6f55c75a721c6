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
}
