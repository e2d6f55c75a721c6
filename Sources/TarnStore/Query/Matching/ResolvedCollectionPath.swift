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
  func contains<Rows: RowReading, Source: RowSource>(
    _ rows: Rows, _ slot: Int, _ source: Source,
    _ passes: (Value, SequencePlace) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    if links.isEmpty { return try containsHere(rows, slot, source, passes) }
    let found = try source.withTarget(rows, slot, links, from: 0) {
      (rows, slot) throws(StorageError) in try containsHere(rows, slot, source, passes)
    }
    if let found { return found }
    guard namesOne, case .at(let column, _) = elements else { return false }
    return try passes(.null, place(column, ObjectKey(0)))
  }

  /// The same from the row that has the collection.
  func containsHere<Rows: RowReading, Source: RowSource>(
    _ rows: Rows, _ slot: Int, _ source: Source,
    _ passes: (Value, SequencePlace) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    let owner = rows.key(at: slot)
    guard case .at(let column, let steps) = elements else {
      let place = place(of: owner)
      return try contains(of: owner, source) { (value) throws(StorageError) in
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
      _ = try source.forEachValue(at: steps[...], from: place, visit)
    } else {
      let value = try source.anyValue(rows, slot, classID, column)
      _ = try source.forEachValue(at: steps[...], of: value, in: place, visit)
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
  func contains<Source: RowSource>(
    of owner: ObjectKey, _ source: Source, _ passes: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var isMet = false
    switch elements {
    case .values(let column):
      try source.forEachElement(of: place(column, owner)) { (value) throws(StorageError) in
        isMet = try passes(value)
        return !isMet
      }
    case .at: trap("internal error: a mixed value is evaluated elsewhere")
    case .keys(let column):
      try source.forEachKey(of: place(column, owner)) { (key) throws(StorageError) in
        isMet = try passes(.string(key))
        return !isMet
      }
    case .origins(let origin, let column):
      let target = ObjectRef(classID: classID, key: owner)
      for key in try source.origins(of: target, in: origin, through: column) {
        if try passes(.link(key)) { return true }
      }
    }
    return isMet
  }

  /// The number of elements of a whole collection.
  func count<Source: RowSource>(
    of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> Int {
    switch elements {
    case .values(let column), .keys(let column), .at(let column, _):
      return try source.elementCount(of: place(column, owner))
    case .origins(let origin, let column):
      let target = ObjectRef(classID: classID, key: owner)
      return try source.origins(of: target, in: origin, through: column).count
    }
  }

  /// The totals, or the minimum and maximum, of all elements or of a column of theirs.
  func fold<Source: RowSource>(
    _ part: ValueFold.Part, _ path: ColumnPath?, of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> ValueFold {
    var fold = ValueFold(part)
    _ = try contains(of: owner, source) { (element) throws(StorageError) in
      guard let path else {
        fold.add(element)
        return false
      }
      guard case .link(let key) = element else { return false }
      let start = path.links.first?.classID ?? path.classID
      let value = try source.withRow(start, key) { (rows, slot) throws(StorageError) in
        try source.scalar(path, rows, slot)
      }
      fold.add(value?.value ?? .null)
      return false
    }
    return fold
  }
}

extension RowSource {
  /// The value at the end of a path, null behind a nil link.
  func scalar<Rows: RowReading>(
    _ path: ColumnPath, _ rows: Rows, _ slot: Int
  ) throws(StorageError) -> Scalar {
    if path.links.isEmpty { return rows.scalar(path, slot) }
    let found = try withTarget(rows, slot, path.links, from: 0) { rows, slot in
      rows.scalar(path, slot)
    }
    return found ?? .null
  }
}
