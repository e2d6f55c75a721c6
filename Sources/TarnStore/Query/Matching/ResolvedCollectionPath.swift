/// The path from an object to the elements of a collection, or to contents of a mixed value.
struct ResolvedCollectionPath: Hashable, Sendable {
  /// The links to the object that has the collection.
  let links: [LinkStep]
  let classID: ClassID
  let elements: NamedCollectionPath.Elements
  /// The column is a list, set or map.
  let isInCollection: Bool

  init(_ path: NamedCollectionPath) {
    links = path.links
    classID = path.owner.id
    elements = path.elements
    isInCollection = path.isInCollection
  }

  /// True if it leads to one value, which is null if the path has no target.
  var namesOne: Bool {
    if case .at(_, let steps) = elements { !steps.contains(.each) } else { false }
  }

  func place(_ column: ColumnID, _ owner: ObjectKey) -> SequencePlace {
    SequencePlace(classID: classID, key: owner, column: column)
  }
}

// MARK: - Dependencies

extension ResolvedCollectionPath {
  /// The links to the collection, and the collection.
  var dependencies: [QueryDependency] {
    var result: [QueryDependency] = []
    for (index, link) in links.enumerated() {
      result.append(
        QueryDependency(
          links: Array(links[..<index]), classID: link.classID, column: link.column))
    }
    result.append(ownDependency)
    return result
  }

  /// The dependencies of objects among the elements, seen from the start of the links.
  func dependencies(
    of inner: [QueryDependency], from target: ClassID
  ) -> [QueryDependency] {
    let way = links + [step(to: target)]
    return inner.map { inner in
      QueryDependency(
        links: way + inner.links, classID: inner.classID, column: inner.column,
        origin: inner.origin)
    }
  }

  private var ownDependency: QueryDependency {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
      QueryDependency(links: links, classID: classID, column: column)
    case .origins(let origin, let column):
      QueryDependency(links: links, classID: classID, column: column, origin: origin)
    }
  }

  /// From the object that has the collection to its elements.
  private func step(to target: ClassID) -> LinkStep {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
      LinkStep(classID: classID, column: column, target: target)
    case .origins(let origin, let column):
      LinkStep(classID: origin, column: column, target: classID, isBackwards: true)
    }
  }
}

// MARK: - Its elements

extension ResolvedCollectionPath {
  /// Whether some element passes, seen from the row where the links begin. Behind a nil link the
  /// collection is empty; a path that names one element gives null.
  func contains<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows,
    _ passes: (Value, SequencePlace) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    if links.isEmpty { return try containsHere(cluster, slot, rows, passes) }
    let found = try rows.withTarget(cluster, slot, links, from: 0) {
      (cluster, slot) throws(StorageError) in try containsHere(cluster, slot, rows, passes)
    }
    if let found { return found }
    guard namesOne, case .at(let column, _) = elements else { return false }
    return try passes(.null, place(column, ObjectKey(0)))
  }

  /// The same from the row that has the collection.
  func containsHere<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows,
    _ passes: (Value, SequencePlace) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    let owner = cluster.key(at: slot)
    guard case .at(let column, let steps) = elements else {
      let place = place(of: owner)
      return try contains(of: owner, rows) { (value) throws(StorageError) in
        try passes(value, place)
      }
    }
    let place = place(column, owner)
    var isMet = false
    let visit = { (value: Value, place: SequencePlace) throws(StorageError) -> Bool in
      isMet = try passes(value, place)
      return !isMet
    }
    if isInCollection {
      _ = try rows.forEachValue(at: steps[...], from: place, visit)
    } else {
      let value = try rows.anyValue(cluster, slot, classID, column)
      _ = try rows.forEachValue(at: steps[...], of: value, in: place, visit)
    }
    return isMet
  }

  private func place(of owner: ObjectKey) -> SequencePlace {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _), .origins(_, let column):
      place(column, owner)
    }
  }

  /// Whether some element of a whole collection passes.
  func contains(
    of owner: ObjectKey, _ rows: Rows, _ passes: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var isMet = false
    switch elements {
    case .values(let column):
      try rows.forEachElement(of: place(column, owner)) { (value) throws(StorageError) in
        isMet = try passes(value)
        return !isMet
      }
    case .at: trap("internal error: a mixed value is evaluated elsewhere")
    case .keys(let column):
      try rows.forEachKey(of: place(column, owner)) { (key) throws(StorageError) in
        isMet = try passes(.string(key))
        return !isMet
      }
    case .origins(let origin, let column):
      let target = ObjectRef(classID: classID, key: owner)
      for key in try rows.origins(of: target, in: origin, through: column) {
        if try passes(.link(key)) { return true }
      }
    }
    return isMet
  }

  /// The number of elements of a whole collection.
  func count(
    of owner: ObjectKey, _ rows: Rows
  ) throws(StorageError) -> Int {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
      return try rows.elementCount(of: place(column, owner))
    case .origins(let origin, let column):
      let target = ObjectRef(classID: classID, key: owner)
      return try rows.origins(of: target, in: origin, through: column).count
    }
  }

  /// The totals, or the minimum and maximum, of all elements or of a column of theirs.
  func fold(
    _ part: ValueFold.Part, _ path: ColumnPath?, of owner: ObjectKey, _ rows: Rows
  ) throws(StorageError) -> ValueFold {
    var fold = ValueFold(part)
    _ = try contains(of: owner, rows) { (element) throws(StorageError) in
      guard let path else {
        fold.add(element)
        return false
      }
      guard case .link(let key) = element else { return false }
      let start = path.links.first?.classID ?? path.classID
      let value = try rows.withRow(start, key) { (cluster, slot) throws(StorageError) in
        try rows.scalar(path, cluster, slot)
      }
      fold.add(value?.value ?? .null)
      return false
    }
    return fold
  }
}

extension Rows {
  /// The value at the end of a path, null behind a nil link.
  func scalar<Cluster: RowReading>(
    _ path: ColumnPath, _ cluster: Cluster, _ slot: Int
  ) throws(StorageError) -> Scalar {
    if path.links.isEmpty { return cluster.scalar(path, slot) }
    let found = try withTarget(cluster, slot, path.links, from: 0) { cluster, slot in
      cluster.scalar(path, slot)
    }
    return found ?? .null
  }
}
