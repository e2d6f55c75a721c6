/// The source of the values of one side of a comparison, seen from an object. A source with a
/// single value gives null if its path leads nowhere.
enum ValueSource: Hashable, Sendable {
  case constant(Value)
  /// Not a mixed one.
  case column(ColumnPath)
  case total(ResolvedCollectionPath, CollectionFigure)
  /// The elements themselves; links among them lead to objects of that class.
  case elements(ResolvedCollectionPath, target: ClassID?)
  /// The values at the end of a path from each element, which is an object of that class.
  indirect case behind(ResolvedCollectionPath, ClassID, ValueSource)

  /// True for a single value, false for one value per element.
  var hasOne: Bool {
    switch self {
    case .constant, .column: true
    case .total(let way, .count): way.namesOne || !way.hasSteps
    case .total: true
    case .elements(let way, target: _): way.namesOne
    case .behind(let way, _, let rest): way.namesOne && rest.hasOne
    }
  }

  var dependencies: [QueryDependency] {
    switch self {
    case .constant: []
    case .column(let path): path.dependencies
    case .total(let way, let figure):
      way.dependencies
        + (figure.dependencies.map { way.dependencies(of: $0.1, from: $0.0) } ?? [])
    case .elements(let way, target: _): way.dependencies
    case .behind(let way, let target, let rest):
      way.dependencies + way.dependencies(of: rest.dependencies, from: target)
    }
  }

  /// The number of links to the first collection.
  var linkCount: Int {
    switch self {
    case .constant: 0
    case .column(let path): path.links.count
    case .total(let way, _), .elements(let way, target: _), .behind(let way, _, _):
      way.links.count
    }
  }

  /// Whether some value passes.
  func contains<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows, _ passes: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    switch self {
    case .constant(let value): return try passes(value)
    case .column(let path): return try passes(try rows.value(path, cluster, slot))
    case .total(let way, .count) where way.hasSteps:
      return try way.contains(cluster, slot, rows) { (value, place) throws(StorageError) in
        try passes(try CollectionFigure.count.value(of: value, in: place, rows))
      }
    case .total(let way, let total):
      return try passes(try total.value(of: way, cluster, slot, rows))
    case .elements(let way, let target):
      return try way.contains(cluster, slot, rows) { (value, _) throws(StorageError) in
        guard let target, case .link(let key) = value else { return try passes(value) }
        return try passes(rows.object(ObjectRef(classID: target, key: key)))
      }
    case .behind(let way, let target, let rest):
      return try way.contains(cluster, slot, rows) { (element, _) throws(StorageError) in
        guard case .link(let key) = element else {
          // If a path names one element and it does not exist, everything behind it is null.
          return way.hasSteps ? try rest.containsBehindNothing(passes) : false
        }
        let found = try rows.withRow(target, key) { (cluster, slot) throws(StorageError) in
          try rest.contains(cluster, slot, rows, passes)
        }
        return found == true
      }
    }
  }

  /// The same if a link to the object is nil.
  func containsBehindNothing<E: Error>(
    _ passes: (Value) throws(E) -> Bool
  ) throws(E) -> Bool {
    if case .constant(let value) = self { return try passes(value) }
    return hasOne ? try passes(.null) : false
  }
}

extension ResolvedCollectionPath {
  var hasSteps: Bool { if case .at = elements { true } else { false } }
}

extension CollectionFigure {
  /// Null behind a nil link.
  fileprivate func value<Cluster: RowReading>(
    of way: ResolvedCollectionPath, _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Value {
    if way.links.isEmpty { return try value(of: way, cluster.key(at: slot), rows) }
    let found = try rows.withTarget(cluster, slot, way.links, from: 0) {
      (cluster, slot) throws(StorageError) in
      try value(of: way, cluster.key(at: slot), rows)
    }
    return found ?? .null
  }
}

extension Rows {
  /// The value of a column that is not mixed, links as objects; null behind a nil link.
  fileprivate func value<Cluster: RowReading>(
    _ path: ColumnPath, _ cluster: Cluster, _ slot: Int
  ) throws(StorageError) -> Value {
    if path.links.isEmpty { return try valueHere(path, cluster, slot) }
    let found = try withTarget(cluster, slot, path.links, from: 0) {
      (cluster, slot) throws(StorageError) in try valueHere(path, cluster, slot)
    }
    return found ?? .null
  }

  private func valueHere<Cluster: RowReading>(
    _ path: ColumnPath, _ cluster: Cluster, _ slot: Int
  ) throws(StorageError) -> Value {
    switch path.type {
    case .string, .data:
      return try unsafe withText(cluster, slot, path) { (bytes) throws(StorageError) in
        guard let bytes = unsafe bytes else { return .null }
        return try unsafe Value(cell: bytes, path.type)
      }
    case .link:
      guard let target = path.target, !cluster.isNull(path.column, slot) else { return .null }
      return object(ObjectRef(classID: target, key: ObjectKey(cluster.int(path.column, slot))))
    default: return cluster.scalar(path, slot).value
    }
  }
}
