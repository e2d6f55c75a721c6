/// A cache of reconstructed rows of a former version. One thread at a time.
final class PastRowCache {
  static let rowsPerCluster = 128
  private static let clustersMax = 32

  private struct Place: Hashable {
    var id: ClassID
    var number: Int
  }

  private var keys: [ClassID: [ObjectKey]] = [:]
  private var clusters: [Place: WorkingCluster] = [:]
  private var primaryKeys: [ClassID: [Value: ObjectKey]] = [:]
  private var origins: [SchemaView.LinkColumn: [ObjectRef: [ObjectKey]]] = [:]

  /// The keys of a class's changed objects, ascending.
  func keys(of id: ClassID, _ make: () -> [ObjectKey]) -> [ObjectKey] {
    if let known = keys[id] { return known }
    let made = make()
    keys[id] = made
    return made
  }

  func cluster(_ number: Int, of id: ClassID) -> WorkingCluster? {
    clusters[Place(id: id, number: number)]
  }

  func keep(_ cluster: WorkingCluster, _ number: Int, of id: ClassID) {
    if clusters.count >= Self.clustersMax { clusters = [:] }
    clusters[Place(id: id, number: number)] = cluster
  }

  /// A class's deleted objects, by their primary keys.
  func primaryKeys(
    of id: ClassID, _ make: () throws(StorageError) -> [Value: ObjectKey]
  ) throws(StorageError) -> [Value: ObjectKey] {
    if let known = primaryKeys[id] { return known }
    let made = try make()
    primaryKeys[id] = made
    return made
  }

  /// The targets of a column's links from changed objects, and the objects that link to them.
  func origins(
    _ column: SchemaView.LinkColumn,
    _ make: () throws(StorageError) -> [ObjectRef: [ObjectKey]]
  ) throws(StorageError) -> [ObjectRef: [ObjectKey]] {
    if let known = origins[column] { return known }
    let made = try make()
    origins[column] = made
    return made
  }
}
