/// Evaluates a predicate over clusters, one after the other:
///
///     let scan = PredicateScan(predicate, source: source)
///     for each cluster of the class: if try scan.evaluate(image) > 0 { use scan.matches }
///
/// Every node of the tree narrows a bitmap of the rows that still matter: the second condition of a
/// conjunction is tested only for rows that passed the first one, and not at all if none did. Used
/// on one thread, for one version: it caches results behind links.
@safe package final class PredicateScan {
  package let predicate: ResolvedPredicate
  let source: Rows
  let scratch: ScanScratch
  private var words = 0
  /// The cached results behind links, for each test with links.
  private var linkCaches: [ObjectIdentifier: LinkCache] = [:]

  package init(_ predicate: ResolvedPredicate, source: Rows) {
    self.predicate = predicate
    self.source = source
    scratch = ScanScratch(bitmapCount: predicate.root.depth + 3)
  }

  /// A set bit for each matching row of the last cluster; valid until the next `evaluate`.
  package var matches: UnsafePointer<UInt64> { unsafe UnsafePointer(scratch.bitmap(0)) }

  /// Calls `body` with the slot of each match of the last cluster, ascending.
  @inline(__always)
  package func forEachMatch<E: Error>(_ body: (Int) throws(E) -> Void) throws(E) {
    try unsafe Bitmap.forEach(matches, words, body)
  }

  /// Finds the matches of a stored cluster and returns their number.
  package func evaluate(_ image: ClusterImage) throws(StorageError) -> Int {
    start(rows: image.rowCount)
    let (mask, hits) = unsafe (scratch.bitmap(1), scratch.bitmap(0))
    unsafe Bitmap.fill(mask, rows: image.rowCount)
    try unsafe evaluate(predicate.root, image, mask, hits, 2)
    return unsafe Bitmap.count(hits, words)
  }

  /// The same row by row, for rows under edit.
  package func evaluate<Cluster: RowReading>(cluster: Cluster) throws(StorageError) -> Int {
    start(rows: cluster.rowCount)
    let hits = unsafe scratch.bitmap(0)
    for index in 0..<words { unsafe hits[index] = 0 }
    for slot in 0..<cluster.rowCount where try predicate.matches(cluster, slot, in: source) {
      unsafe hits[slot >> 6] |= 1 << UInt64(slot & 63)
    }
    return unsafe Bitmap.count(hits, words)
  }

  private func start(rows: Int) {
    scratch.reserve(rows: rows)
    words = (rows + 63) >> 6
  }

  /// Sets a bit in `hits` for each row of `mask` for which the node is true. May use the bitmaps
  /// from `free` on.
  private func evaluate(
    _ node: ResolvedNode, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>,
    _ hits: UnsafeMutablePointer<UInt64>, _ free: Int
  ) throws(StorageError) {
    switch node {
    case .constant(let value):
      for index in 0..<words { unsafe hits[index] = value ? mask[index] : 0 }
    case .test(let test):
      try unsafe evaluate(test, image, mask, hits)
    case .pair(let pair):
      try unsafe evaluateEach(mask, hits) { (slot) throws(StorageError) in
        try pair.matches(image, slot, source)
      }
    case .collection(let test):
      try unsafe evaluateEach(mask, hits) { (slot) throws(StorageError) in
        try test.matches(image, slot, source)
      }
    case .not(let inner):
      try unsafe evaluate(inner, image, mask, hits, free)
      for index in 0..<words { unsafe hits[index] = mask[index] & ~hits[index] }
    case .and(let nodes):
      let rest = unsafe scratch.bitmap(free)
      unsafe rest.update(from: mask, count: words)
      for node in nodes {
        try unsafe evaluate(node, image, rest, hits, free + 1)
        if unsafe Bitmap.isEmpty(hits, words) { return }
        unsafe rest.update(from: hits, count: words)
      }
    case .or(let nodes):
      try unsafe evaluateAny(nodes, image, mask, hits, free)
    }
  }

  private func evaluateAny(
    _ nodes: [ResolvedNode], _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>,
    _ hits: UnsafeMutablePointer<UInt64>, _ free: Int
  ) throws(StorageError) {
    let (rest, found) = unsafe (scratch.bitmap(free), scratch.bitmap(free + 1))
    unsafe rest.update(from: mask, count: words)
    for index in 0..<words { unsafe hits[index] = 0 }
    for node in nodes {
      try unsafe evaluate(node, image, rest, found, free + 2)
      for index in 0..<words {
        unsafe hits[index] |= found[index]
        unsafe rest[index] &= ~found[index]
      }
      if unsafe Bitmap.isEmpty(rest, words) { return }
    }
  }

  private func evaluateEach(
    _ mask: UnsafeMutablePointer<UInt64>, _ hits: UnsafeMutablePointer<UInt64>,
    _ passes: (Int) throws(StorageError) -> Bool
  ) throws(StorageError) {
    for index in 0..<words { unsafe hits[index] = 0 }
    try unsafe Bitmap.forEach(mask, words) { (slot) throws(StorageError) in
      if try passes(slot) { unsafe hits[slot >> 6] |= 1 << UInt64(slot & 63) }
    }
  }
}

// MARK: - One column

extension PredicateScan {
  private func evaluate(
    _ test: ColumnPredicate, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>,
    _ hits: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    guard test.path.links.isEmpty else {
      try unsafe evaluateLinked(test, image, mask, hits)
      return
    }
    try unsafe testValues(test, image, mask, hits)
    if test.path.isOptional {
      let nulls = unsafe scratch.nulls
      if unsafe image.decodeNulls(test.path.column, into: nulls) {
        let passing: UInt64 = test.passesNull ? .max : 0
        for index in 0..<words {
          unsafe hits[index] = hits[index] & ~nulls[index] | nulls[index] & passing
        }
      }
    }
    if test.isNegated {
      for index in 0..<words { unsafe hits[index] = mask[index] & ~hits[index] }
    } else {
      for index in 0..<words { unsafe hits[index] &= mask[index] }
    }
  }

  /// Tests stored values, including those of rows without a value.
  private func testValues(
    _ test: ColumnPredicate, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>,
    _ hits: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    let column = test.path.column
    switch test.test {
    case .isNull: for index in 0..<words { unsafe hits[index] = 0 }
    case .isNaN: unsafe testNaN(test.path, image, hits)
    case .int(let domain): unsafe scratch.testInts(image, column, domain, hits)
    case .bool(let wanted):
      unsafe image.decodeBools(column, into: hits)
      if !wanted { for index in 0..<words { unsafe hits[index] = ~hits[index] } }
    case .double(let domain): unsafe scratch.testFloats(image, column, domain, hits)
    case .float(let domain): unsafe scratch.testFloats(image, column, domain, hits)
    case .date(let domain): unsafe scratch.testDates(image, column, domain, hits)
    case .bytes12(let domain):
      unsafe scratch.testEach(image, hits) { domain.contains(image.bytes12(column, $0)) }
    case .bytes16(let domain):
      unsafe scratch.testEach(image, hits) { domain.contains(image.bytes16(column, $0)) }
    case .decimal(let domain):
      unsafe scratch.testEach(image, hits) {
        domain.contains(DecimalNumber(image.bytes16(column, $0)).order)
      }
    case .text(let pattern):
      try unsafe scratch.testText(image, column, pattern, mask, hits) {
        (slot) throws(StorageError) in
        try unsafe source.withLongValue(test.path.classID, image.key(at: slot), column) {
          unsafe pattern.matches($0)
        }
      }
    case .ofType, .object: trap("internal error: a mixed column read as a typed one")
    }
  }
}

extension PredicateScan {
  private func testNaN(
    _ path: ColumnPath, _ image: ClusterImage, _ hits: UnsafeMutablePointer<UInt64>
  ) {
    switch path.type {
    case .float: unsafe scratch.testNaN(image, path.column, Float.self, hits)
    case .double: unsafe scratch.testNaN(image, path.column, Double.self, hits)
    default:
      unsafe scratch.testEach(image, hits) {
        DecimalNumber(image.bytes16(path.column, $0)).isNaN
      }
    }
  }
}

// MARK: - Links

/// The results of a test behind a link for the most recent targets. It has a fixed size: a target
/// that was evicted is looked up again.
private struct LinkCache {
  static let entries = 1 << 14
  /// A target's key in each slot, and two bits: known, passed.
  var keys = [Int64](repeating: 0, count: entries)
  var states = [UInt8](repeating: 0, count: entries)

  @inline(__always)
  static func entry(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9e37_79b9_7f4a_7c15) >> 50)
  }
}

extension PredicateScan {
  private func evaluateLinked(
    _ test: ColumnPredicate, _ image: ClusterImage, _ mask: UnsafeMutablePointer<UInt64>,
    _ hits: UnsafeMutablePointer<UInt64>
  ) throws(StorageError) {
    let identity = ObjectIdentifier(test)
    // Removed while it is used, so that it is changed in place.
    var cache = linkCaches.removeValue(forKey: identity) ?? LinkCache()
    defer { linkCaches[identity] = cache }
    let link = test.path.links[0]
    let (targets, nulls) = unsafe (scratch.ints, scratch.nulls)
    unsafe image.decodeInts(link.column, into: targets)
    unsafe image.decodeNulls(link.column, into: nulls)
    try unsafe evaluateEach(mask, hits) { (slot) throws(StorageError) in
      if unsafe nulls[slot >> 6] >> UInt64(slot & 63) & 1 != 0 { return test.acceptsNull }
      let key = unsafe targets[slot]
      let entry = LinkCache.entry(key)
      if cache.keys[entry] == key, cache.states[entry] != 0 { return cache.states[entry] == 3 }
      let passes = try matchesBehind(link, ObjectKey(key), test)
      cache.keys[entry] = key
      cache.states[entry] = passes ? 3 : 1
      return passes
    }
  }

  private func matchesBehind(
    _ link: LinkStep, _ key: ObjectKey, _ test: ColumnPredicate
  ) throws(StorageError) -> Bool {
    let found = try source.withRow(link.target, key) { (rows, slot) throws(StorageError) -> Bool? in
      if test.path.links.count == 1 { return try test.matchesHere(rows, slot, source) }
      return try source.withTarget(rows, slot, test.path.links, from: 1) {
        (rows, slot) throws(StorageError) in try test.matchesHere(rows, slot, source)
      }
    }
    return (found ?? nil) ?? test.acceptsNull
  }
}

extension ResolvedNode {
  /// The number of bitmaps that evaluating the node needs besides mask and result.
  fileprivate var depth: Int {
    switch self {
    case .constant, .test, .pair, .collection: 0
    case .not(let node): node.depth
    case .and(let nodes): 1 + (nodes.map(\.depth).max() ?? 0)
    case .or(let nodes): 2 + (nodes.map(\.depth).max() ?? 0)
    }
  }
}
