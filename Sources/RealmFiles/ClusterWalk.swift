/// Some neighbouring objects of a table.
struct Cluster {
  /// The most objects of a cluster.
  static let sizeMax = 256

  let array: RealmArray
  let count: Int
  private let offset: Int64
  private let keys: RealmArray?

  init(_ array: RealmArray, offset: Int64) throws(RealmFileError) {
    self.array = array
    self.offset = offset
    guard array.hasRefs else { throw array.damaged("a cluster has no references") }
    switch try array.slot(0) {
    case .number(let number): (keys, count) = (nil, number)
    case .ref(let ref):
      let found = try RealmArray.numbers(array.bytes, ref)
      (keys, count) = (found, found.count)
    case .empty: throw array.damaged("a cluster has no number of objects")
    }
    guard count <= Self.sizeMax else { throw array.damaged("a cluster has \(count) objects") }
  }

  /// The same cluster, whose memory may have been given back.
  init(reading cluster: Cluster) throws(RealmFileError) {
    try cluster.array.prepareAgain()
    try cluster.keys?.prepareAgain()
    self = cluster
  }

  /// The size of the cluster and of its keys in the file.
  var byteCount: Int { array.byteCount + (keys?.byteCount ?? 0) }

  func key(_ row: Int) throws(RealmFileError) -> Int64 {
    guard let keys else { return offset &+ Int64(row) }
    return offset &+ Int64(bitPattern: try keys.unsigned(row))
  }

  /// The row of a key; nil if the cluster does not have the key.
  func row(of key: Int64) throws(RealmFileError) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      let found = try self.key(middle)
      if found == key { return middle }
      if found < key { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The leaf of a column.
  func leafRef(_ leafIndex: Int) throws(RealmFileError) -> Int {
    guard let ref = try array.optionalRef(leafIndex + 1) else {
      throw array.damaged("a cluster has no values of a column")
    }
    return ref
  }
}

/// A node of a tree of clusters.
private struct ClusterNode {
  let array: RealmArray
  let offset: Int64
  private let keys: RealmArray?
  private let depth: Int
  var childCount: Int { array.count - 3 }
  /// The number of objects below.
  let objectCount: Int

  init(_ array: RealmArray, offset: Int64) throws(RealmFileError) {
    self.array = array
    self.offset = offset
    guard array.count > 3 else { throw array.damaged("a node has no children") }
    keys =
      if let ref = try array.optionalRef(0) { try .numbers(array.bytes, ref) } else { nil }
    guard let depth = try array.optionalNumber(1), (1...7).contains(depth),
      let objectCount = try array.optionalNumber(2)
    else { throw array.damaged("a node has no depth or no number of objects") }
    self.depth = depth
    self.objectCount = objectCount
    guard keys.map({ $0.count == array.count - 3 }) ?? true else {
      throw array.damaged("a node does not have as many keys as children")
    }
  }

  var byteCount: Int { array.byteCount + (keys?.byteCount ?? 0) }

  func prepareAgain() throws(RealmFileError) {
    try array.prepareAgain()
    try keys?.prepareAgain()
  }

  func childOffset(_ index: Int) throws(RealmFileError) -> Int64 {
    let own = try keys?.unsigned(index) ?? UInt64(index) << UInt64(8 * depth)
    return offset &+ Int64(bitPattern: own)
  }
}

/// The clusters of a tree from left to right.
struct ClusterWalk {
  private let bytes: FileBytes
  /// The nodes from the root down, with the next child of each.
  private var path: [(node: ClusterNode, next: Int)] = []
  /// The root, if it is a cluster.
  private var single: Cluster?
  /// Whether keys ascend and are not negative.
  private let isOrdered: Bool
  private var lastKey: Int64 = -1
  private var found = 0
  /// The number of objects.
  let objectCount: Int

  init(_ bytes: FileBytes, _ root: Int, isOrdered: Bool = true) throws(RealmFileError) {
    self.bytes = bytes
    self.isOrdered = isOrdered
    let array = try RealmArray(bytes, root)
    if array.isInner {
      let node = try ClusterNode(array, offset: 0)
      objectCount = node.objectCount
      try bytes.charge(node.byteCount, at: root)
      path = [(node, 0)]
    } else {
      let cluster = try Cluster(array, offset: 0)
      objectCount = cluster.count
      single = cluster
    }
  }

  /// The next cluster that has objects; nil at the end.
  mutating func next() throws(RealmFileError) -> Cluster? {
    while let cluster = try nextOfAny() {
      try bytes.charge(cluster.byteCount, at: cluster.array.ref)
      found += cluster.count
      if isOrdered { try checkOrder(cluster) }
      if cluster.count > 0 { return cluster }
    }
    return nil
  }

  /// Reads the nodes on the way again, in case that their memory was given back.
  func prepareAgain() throws(RealmFileError) {
    for (node, _) in path { try node.prepareAgain() }
  }

  private mutating func nextOfAny() throws(RealmFileError) -> Cluster? {
    if let cluster = single {
      single = nil
      return cluster
    }
    while let (node, next) = path.last {
      guard next < node.childCount else {
        path.removeLast()
        if path.isEmpty, found != objectCount {
          throw node.array.damaged("a tree has \(found) objects instead of \(objectCount)")
        }
        continue
      }
      path[path.count - 1].next += 1
      let offset = try node.childOffset(next)
      let child = try RealmArray(bytes, node.array.ref(next + 3))
      guard child.isInner else { return try Cluster(child, offset: offset) }
      guard path.count < CollectionReader.levelsMax else {
        throw child.damaged("a tree is too deep")
      }
      let inner = try ClusterNode(child, offset: offset)
      try bytes.charge(inner.byteCount, at: child.ref)
      path.append((inner, 0))
    }
    return nil
  }

  private mutating func checkOrder(_ cluster: Cluster) throws(RealmFileError) {
    for row in 0..<cluster.count {
      let key = try cluster.key(row)
      guard key > lastKey else { throw cluster.array.damaged("the keys do not ascend") }
      lastKey = key
    }
  }
}
