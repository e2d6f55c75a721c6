/// Embedded objects: each is owned by one other object.
///
/// An embedded object has one owner: one property of one object, in a list at one position, in a
/// map under one key. A change that gives it an owner takes it from the former one: it is removed
/// from a list, and a property or map value becomes null.
///
/// For lists one rule covers all changes. A change names a range of the current positions, empty
/// for an insertion, and the new elements there. These are removed from where they are, in this
/// list or elsewhere; elements of the range that are not among the new ones are removed and
/// deleted; all others keep their order. With 0 1 2 3, putting 0 in the position of 2 gives 1 0 3,
/// putting it in that of 1 gives 0 2 3, and inserting it at 4 gives 1 2 3 0. No element can occur
/// twice in one change.
extension WriteSession {
  // MARK: - Compound changes

  /// Runs changes that belong together. At the end of the outermost call, embedded objects without
  /// an owner are deleted.
  package func changing<R>(
    _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    changeDepth += 1
    defer { changeDepth -= 1 }
    let result = try body()
    if changeDepth == 1 {
      while let object = abandoned.popLast() {
        guard try location(of: object.key, in: object.classID) != nil, try owner(of: object) == nil
        else {
          continue
        }
        try delete(object.key, in: object.classID)
      }
    }
    return result
  }

  /// Records that an embedded object has lost its owner; it may get another one.
  func abandon(_ value: Value, _ column: ColumnSchema) {
    guard let target = column.linkTarget(of: value), schema.isEmbedded(target.classID) else {
      return
    }
    abandoned.append(target)
  }

  /// The owner of an embedded object; nil without one.
  private func owner(of object: ObjectRef) throws(StorageError) -> ObjectRef? {
    for link in schema.incoming(to: object.classID) {
      let origins = try keys(linkingTo: object, in: link.origin, through: link.column)
      if let origin = origins.first { return ObjectRef(classID: link.origin, key: origin) }
    }
    return nil
  }

  /// True if the property owns its elements.
  func ownsElements(_ place: SequencePlace) -> Bool {
    let column = schema[place.classID][place.column]
    return column.target.map { schema.isEmbedded($0) } ?? false
  }

  // MARK: - Taking ownership

  /// Traps for an embedded object that would be at two positions of a collection at once.
  package func refuseRepeated(_ values: [Value], for place: SequencePlace) {
    if values.count < 2 || !ownsElements(place) { return }
    let column = schema[place.classID][place.column]
    var known: Set<ObjectKey> = []
    for value in values {
      guard let target = column.linkTarget(of: value) else { continue }
      require(
        known.insert(target.key).inserted,
        "An object of the embedded class '\(schema[target.classID].name)' would be in two "
          + "positions of '\(schema[place.classID].name).\(column.name)' at once. An "
          + "embedded object has one position: make another object for the second one.")
    }
  }

  /// Removes embedded objects among the values from their owners, except the property itself, which
  /// will own them. True if the property owns some of them already.
  func take(_ values: [Value], for place: SequencePlace) throws(StorageError) -> Bool {
    guard ownsElements(place) else { return false }
    let column = schema[place.classID][place.column]
    var targets: Set<ObjectRef> = []
    var origins: Set<LinkOrigin> = []
    let here = LinkOrigin(classID: place.classID, column: place.column, key: place.key)
    var isHere = false
    for value in values {
      guard let target = column.linkTarget(of: value) else { continue }
      targets.insert(target)
      for link in schema.incoming(to: target.classID) {
        for key in try keys(linkingTo: target, in: link.origin, through: link.column) {
          let origin = LinkOrigin(classID: link.origin, column: link.column, key: key)
          if origin == here { isHere = true } else { origins.insert(origin) }
        }
      }
    }
    if origins.isEmpty { return isHere }
    try refuseCircle(targets, in: place)
    for origin in origins.sorted() {
      try removeLinks(from: origin.column, at: origin.key, in: origin.classID) {
        targets.contains($0)
      }
    }
    return isHere
  }

  /// Traps if an object would be owned by one that it owns.
  private func refuseCircle(
    _ targets: Set<ObjectRef>, in place: SequencePlace
  ) throws(StorageError) {
    var next = ObjectRef(classID: place.classID, key: place.key)
    var known: Set<ObjectRef> = []
    // A damaged file may have cycles already.
    while schema.isEmbedded(next.classID), known.insert(next).inserted {
      require(
        !targets.contains(next),
        "An object of the embedded class '\(schema[next.classID].name)' cannot be put into itself, "
          + "nor into an object that belongs to it. Take that one out first, or make a copy.")
      guard let owner = try owner(of: next) else { return }
      next = owner
    }
  }

  // MARK: - Lists

  /// A position after removing earlier elements, whose positions are ascending.
  package static func position(_ position: Int, without leaving: [Int]) -> Int {
    position - leaving.prefix { $0 < position }.count
  }

  /// Replaces the elements of a range of a list of embedded objects, by the rule above.
  func replaceOwned(
    _ range: Range<Int>, with values: [Value], in sequence: WorkingSequence
  ) throws(StorageError) {
    let place = sequence.place
    refuseRepeated(values, for: place)
    guard try take(values, for: place) else {
      return try replaceElements(range, with: values, in: sequence)
    }
    let coming = Set(values)
    var moved: [Value: Int] = [:]
    var leaving: [Int] = []
    var position = 0
    try sequence.forEach(in: 0..<sequence.count) { value in
      let comes = coming.contains(value)
      if comes { moved[value] = position }
      if comes || range.contains(position) { leaving.append(position) }
      position += 1
      return true
    }
    let staying = Set(moved.values)
    for position in leaving where !staying.contains(position) {
      try release(position..<position + 1, of: sequence)
    }
    try sequence.rearrange(
      removing: leaving, inserting: values.map { (.value($0), moved[$0]) },
      at: Self.position(range.lowerBound, without: leaving))
    for value in values where moved[value] == nil { try own(.value(value), in: sequence) }
    touch(place)
  }
}
