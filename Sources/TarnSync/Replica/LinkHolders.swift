import TarnStore

extension Rows {
  /// The links to an object, as waiting links, because it was deleted or will be. A link in an
  /// embedded object belongs to the property that contains it.
  ///
  /// - Parameters:
  ///   - key: the primary key of the object.
  ///   - classes: the classes whose links count.
  func waitingLinks(
    to object: ObjectRef, _ key: Value, from classes: Set<ClassID>
  ) throws(StorageError) -> [WaitingLinks.Waiting] {
    // An object that the server cannot have was not received from it.
    guard let wire = WireValue(key), wire.exact == nil else { return [] }
    let bytes = wire.bytes
    var places: Set<WaitingLinks.Place> = []
    var open = [object]
    // In a damaged file, embedded objects may own each other.
    var known: Set<ObjectRef> = [object]
    while let target = open.popLast() {
      let mixed = target == object ? schema.anyColumns : []
      for link in schema.incoming(to: target.classID) + mixed {
        for key in try Set(origins(of: target, in: link.origin, through: link.column)) {
          let holder = ObjectRef(classID: link.origin, key: key)
          if schema.isEmbedded(link.origin) {
            if known.insert(holder).inserted { open.append(holder) }
          } else if classes.contains(link.origin) {
            places.insert(WaitingLinks.Place(object: holder, column: link.column))
          }
        }
      }
    }
    return places.map { WaitingLinks.Waiting(place: $0, target: object.classID, key: bytes) }
  }
}
