/// The objects of a table in the order of their keys, cluster by cluster.
///
/// Memory is that of one cluster: do not keep a cluster beyond the next call.
package struct RealmObjects {
  private let file: RealmFile
  private let table: RealmTable
  private var walk: ClusterWalk
  /// The number of objects, by the table's own count.
  package var count: Int { walk.objectCount }

  package init(_ file: RealmFile, _ table: RealmTable) throws(RealmFileError) {
    self.file = file
    self.table = table
    walk = try within(table.place) { () throws(RealmFileError) in
      try ClusterWalk(file.bytes, table.root)
    }
  }

  /// The next objects, at least one; nil at the end.
  ///
  /// - Parameter trims: whether memory may be given back, because no other cluster is in use, and
  ///   each `RealmLookup` has forgotten its own.
  package mutating func next(trimming trims: Bool = false) throws(RealmFileError) -> RealmCluster? {
    do {
      if trims, file.bytes.trim() { try walk.prepareAgain() }
      guard let cluster = try walk.next() else { return nil }
      return RealmCluster(file, table, cluster, charges: true)
    } catch {
      throw error.within(table.place)
    }
  }
}

extension RealmTable {
  /// For messages.
  var place: String { className.map { "class '\($0)'" } ?? "table '\(name)'" }
}

/// Some neighbouring objects of a table, whose values are read when they are asked for.
package final class RealmCluster {
  private let file: RealmFile
  private let table: RealmTable
  private let cluster: Cluster
  private let charges: Bool
  private var leaves: [Leaf?]
  /// The trees of collections, by column.
  private var trees: [RealmArray?]
  package var count: Int { cluster.count }

  init(_ file: RealmFile, _ table: RealmTable, _ cluster: Cluster, charges: Bool) {
    self.file = file
    self.table = table
    self.cluster = cluster
    self.charges = charges
    leaves = Array(repeating: nil, count: table.columns.count)
    trees = Array(repeating: nil, count: table.columns.count)
  }

  /// The key of the object in a row.
  package func key(_ row: Int) throws(RealmFileError) -> Int64 { try cluster.key(row) }

  /// The row of an object; nil if it is not here.
  package func row(of key: Int64) throws(RealmFileError) -> Int? { try cluster.row(of: key) }

  /// The value of a property, or the whole collection.
  ///
  /// - Parameters:
  ///   - column: the position among the table's columns.
  ///   - row: less than `count`.
  package func value(_ column: Int, _ row: Int) throws(RealmFileError) -> RealmValue {
    do {
      if table.columns[column].collection != .none { return try collection(column, row) }
      return try leaf(column).value(row)
    } catch {
      throw error.within("\(table.place), property '\(table.columns[column].name)'")
    }
  }

  /// The values of a property with one value of all objects, in the order of the rows.
  package func values(_ column: Int) throws(RealmFileError) -> [RealmValue] {
    do {
      return try leaf(column).values()
    } catch {
      throw error.within("\(table.place), property '\(table.columns[column].name)'")
    }
  }

  private func leaf(_ column: Int) throws(RealmFileError) -> Leaf {
    if let leaf = leaves[column] { return leaf }
    let array = try RealmArray(file.bytes, cluster.leafRef(table.columns[column].leafIndex))
    let leaf = try Leaf.make(
      array, of: table.columns[column], file.links, isElements: false,
      distinct: table.distinct[column], charges: charges)
    guard leaf.count == cluster.count else {
      throw array.damaged("\(cluster.count) objects have \(leaf.count) values")
    }
    leaves[column] = leaf
    return leaf
  }

  private func tree(_ column: Int) throws(RealmFileError) -> RealmArray {
    if let array = trees[column] { return array }
    let array = try RealmArray.refs(
      file.bytes, cluster.leafRef(table.columns[column].leafIndex))
    guard array.count == cluster.count, !array.isInner else {
      throw array.damaged("\(cluster.count) objects have \(array.count) collections")
    }
    if charges { try file.bytes.charge(array.byteCount, at: array.ref) }
    trees[column] = array
    return array
  }

  private func collection(_ column: Int, _ row: Int) throws(RealmFileError) -> RealmValue {
    let described = table.columns[column]
    let ref = try tree(column).optionalRef(row)
    if described.collection == .dictionary {
      guard let ref else { return .dictionary([]) }
      return .dictionary(
        try CollectionReader.entries(file.bytes, ref, file.links, depth: 0))
    }
    guard let ref else { return .list([]) }
    return .list(try CollectionReader.elements(file.bytes, ref, of: described, file.links))
  }
}

/// Finds single objects of a table. Its memory is a few numbers for each cluster.
package final class RealmLookup {
  private let file: RealmFile
  private let table: RealmTable
  /// The clusters in the order of keys: the first key, the reference, and how many objects come
  /// before.
  private var clusters: [(key: Int64, cluster: Cluster, before: Int)]?
  /// The cluster found last: links often lead to neighbours.
  private var recent: (index: Int, cluster: RealmCluster)?

  package init(_ file: RealmFile, _ table: RealmTable) {
    self.file = file
    self.table = table
  }

  /// The position of an object among all of the table; nil if it does not exist.
  package func position(_ key: Int64) throws(RealmFileError) -> Int? {
    guard let (index, row) = try place(key) else { return nil }
    return try found()[index].before + row
  }

  /// The cluster and the row of an object; nil if it does not exist.
  package func find(
    _ key: Int64
  ) throws(RealmFileError) -> (cluster: RealmCluster, row: Int)? {
    guard let (index, row) = try place(key) else { return nil }
    if let recent, recent.index == index { return (recent.cluster, row) }
    let cluster = RealmCluster(
      file, table, try Cluster(reading: found()[index].cluster), charges: false)
    recent = (index, cluster)
    return (cluster, row)
  }

  /// Forgets the cluster found last, whose memory may be given back.
  package func forget() { recent = nil }

  private func place(_ key: Int64) throws(RealmFileError) -> (index: Int, row: Int)? {
    let clusters = try found()
    var (low, high) = (0, clusters.count)
    while low < high {
      let middle = (low + high) / 2
      if clusters[middle].key <= key { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let cluster = try Cluster(reading: clusters[low - 1].cluster)
    return try cluster.row(of: key).map { (low - 1, $0) }
  }

  private func found() throws(RealmFileError) -> [(key: Int64, cluster: Cluster, before: Int)] {
    if let clusters { return clusters }
    var walk = try ClusterWalk(file.bytes, table.root)
    var (all, before): ([(key: Int64, cluster: Cluster, before: Int)], Int) = ([], 0)
    while let cluster = try walk.next() {
      all.append((try cluster.key(0), cluster, before))
      before += cluster.count
    }
    clusters = all
    return all
  }
}
