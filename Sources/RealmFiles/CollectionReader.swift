/// Reads whole lists, sets and dictionaries.
enum CollectionReader {
  /// The most levels of a tree. No file needs as many.
  static let levelsMax = 8
  /// The most elements of a leaf.
  private static let leafSizeMax = 1000
  /// A collection can have as many elements, or as many as the file has bytes. A damaged file could
  /// name more than memory has room for: a leaf of zeros takes eight bytes.
  private static let elementsMax = 4 << 20

  /// The leaves of a tree of elements, from left to right.
  private static func leaves(
    _ bytes: FileBytes, _ ref: Int
  ) throws(RealmFileError) -> [RealmArray] {
    var leaves: [RealmArray] = []
    try collect(bytes, ref, 0, &leaves)
    return leaves
  }

  private static func collect(
    _ bytes: FileBytes, _ ref: Int, _ level: Int, _ leaves: inout [RealmArray]
  ) throws(RealmFileError) {
    let node = try RealmArray(bytes, ref)
    guard node.isInner else {
      leaves.append(node)
      return
    }
    try bytes.charge(node.byteCount, at: ref)
    guard level < levelsMax, node.count >= 3 else {
      throw node.damaged(level < levelsMax ? "a node has no children" : "a tree is too deep")
    }
    for index in 1..<node.count - 1 {
      try collect(bytes, node.ref(index), level + 1, &leaves)
    }
  }

  private static func checkRoom(
    _ count: Int, adding added: Int, _ array: RealmArray
  ) throws(RealmFileError) {
    guard added <= leafSizeMax else {
      throw array.damaged("a leaf has \(added) elements")
    }
    guard count + added <= max(elementsMax, array.bytes.count) else {
      throw array.damaged("a collection has more elements than the file has room for")
    }
  }

  /// The elements of a list or a set.
  static func elements(
    _ bytes: FileBytes, _ ref: Int, of column: RealmColumn, _ tables: LinkTables
  ) throws(RealmFileError) -> [RealmValue] {
    let isOfLinks = column.type == .link || column.type == .typedLink
    var elements: [RealmValue] = []
    for array in try leaves(bytes, ref) {
      let leaf = try Leaf.make(array, of: column, tables, isElements: true, charges: true)
      try checkRoom(elements.count, adding: leaf.count, array)
      elements.reserveCapacity(elements.count + leaf.count)
      for index in 0..<leaf.count {
        let value = try leaf.value(index)
        // Objects that are gone leave no gap, except in lists of AnyRealmValue.
        if value == .null {
          if isOfLinks { continue }
          if column.collection == .set, try leaf.isLost(index) { continue }
        }
        elements.append(value)
      }
    }
    return elements
  }

  /// The elements of a list within a value.
  static func mixed(
    _ bytes: FileBytes, _ ref: Int, _ tables: LinkTables, depth: Int
  ) throws(RealmFileError) -> [RealmValue] {
    var elements: [RealmValue] = []
    for array in try leaves(bytes, ref) {
      let leaf = try MixedLeaf(array, tables, depth: depth)
      try bytes.charge(leaf.byteCount, at: array.ref)
      try checkRoom(elements.count, adding: leaf.count, array)
      for index in 0..<leaf.count { elements.append(try leaf.value(index)) }
    }
    return elements
  }

  /// The pairs of a dictionary.
  static func entries(
    _ bytes: FileBytes, _ ref: Int, _ tables: LinkTables, depth: Int
  ) throws(RealmFileError) -> [RealmEntry] {
    if tables.format < 23 { return try hashed(bytes, ref, tables) }
    let top = try RealmArray.refs(bytes, ref)
    guard !top.isInner, top.count == 2 else {
      throw top.damaged("a dictionary does not have keys and values")
    }
    try bytes.charge(top.byteCount, at: ref)
    var keys: [RealmValue] = []
    for array in try leaves(bytes, top.ref(0)) {
      let leaf = try StringLeaf(array, .texts)
      try bytes.charge(leaf.byteCount, at: array.ref)
      try checkRoom(keys.count, adding: leaf.count, array)
      for index in 0..<leaf.count { keys.append(try leaf.value(index)) }
    }
    let values = try mixed(bytes, top.ref(1), tables, depth: depth)
    return try entries(keys, values, top)
  }

  private static func entries(
    _ keys: [RealmValue], _ values: [RealmValue], _ top: RealmArray
  ) throws(RealmFileError) -> [RealmEntry] {
    guard keys.count == values.count else {
      throw top.damaged("a dictionary has \(keys.count) keys and \(values.count) values")
    }
    var entries: [RealmEntry] = []
    entries.reserveCapacity(keys.count)
    var met: Set<[UInt8]> = []
    for index in keys.indices {
      guard case .string(let key) = keys[index] else {
        throw top.damaged("a key of a dictionary is null")
      }
      guard met.insert(Array(key.utf8)).inserted else {
        throw top.damaged("a dictionary has a key twice")
      }
      entries.append(RealmEntry(key: key, value: values[index]))
    }
    return entries
  }

  /// The pairs of a dictionary of formats before 23: a tree of clusters with two columns.
  private static func hashed(
    _ bytes: FileBytes, _ ref: Int, _ tables: LinkTables
  ) throws(RealmFileError) -> [RealmEntry] {
    var walk = try ClusterWalk(bytes, ref, isOrdered: false)
    var entries: [RealmEntry] = []
    while let cluster = try walk.next() {
      let keys = try StringLeaf(RealmArray(bytes, cluster.leafRef(0)), .texts)
      let values = try MixedLeaf(RealmArray(bytes, cluster.leafRef(1)), tables)
      try bytes.charge(keys.byteCount + values.byteCount, at: cluster.array.ref)
      guard keys.count == cluster.count, values.count == cluster.count else {
        throw cluster.array.damaged("a dictionary has keys without values")
      }
      try checkRoom(entries.count, adding: values.count, cluster.array)
      var (names, found): ([RealmValue], [RealmValue]) = ([], [])
      for index in 0..<cluster.count {
        names.append(try keys.value(index))
        found.append(try values.value(index))
      }
      entries += try Self.entries(names, found, cluster.array)
    }
    return entries
  }
}
