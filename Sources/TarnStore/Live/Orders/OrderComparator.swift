/// Compares rows by their keys, in an order: a maintained result uses it to sort in a changed row,
/// with some twenty comparisons. Keep the changed row's side with `sortKey(of:)`, so that each
/// comparison reads only one row. Comparing allocates only for values outside of clusters.
///
/// Used on one thread, for one version. A class, because the functions that compare copy it.
package final class OrderComparator {
  package let order: ResolvedOrder
  let source: Rows

  package init(_ order: ResolvedOrder, source: Rows) {
    self.order = order
    self.source = source
  }

  /// A row and the prefix of its first sort value.
  package struct SortKey: BitwiseCopyable {
    package let key: ObjectKey
    let prefix: OrderPrefix
  }

  /// Reads an existing row. Throws `.corrupted` if it does not exist.
  package func sortKey(of key: ObjectKey) throws(StorageError) -> SortKey {
    guard let term = order.terms.first else { return SortKey(key: key, prefix: .null) }
    let prefix = try row(key) { (rows, slot) throws(StorageError) in
      try source.orderPrefix(rows, slot, term)
    }
    return SortKey(key: key, prefix: prefix)
  }

  /// Negative, zero or positive if `a` sorts before, is the same as, or sorts after `b`.
  package func compare(_ a: ObjectKey, _ b: ObjectKey) throws(StorageError) -> Int {
    if a == b { return 0 }
    return try compare(sortKey(of: a), b)
  }

  package func compare(_ a: SortKey, _ b: ObjectKey) throws(StorageError) -> Int {
    if a.key == b { return 0 }
    return try compare(a, sortKey(of: b))
  }

  package func compare(_ a: SortKey, _ b: SortKey) throws(StorageError) -> Int {
    let order = try compareTerms(a, b)
    if order != 0 { return order }
    return a.key < b.key ? -1 : (b.key < a.key ? 1 : 0)
  }

  /// The same without the keys: rows with equal terms are equal.
  package func compareTerms(_ a: SortKey, _ b: SortKey) throws(StorageError) -> Int {
    for index in order.terms.indices {
      let (x, y) =
        index == 0
        ? (a.prefix, b.prefix) : (try prefix(a.key, index), try prefix(b.key, index))
      if x.high != y.high { return x.high < y.high ? -1 : 1 }
      if x.low != y.low { return x.low < y.low ? -1 : 1 }
      if !x.isExact && !y.isExact {
        let whole = try compareWhole(a.key, b.key, index)
        if whole != 0 { return whole }
      }
    }
    return 0
  }

  private func prefix(_ key: ObjectKey, _ index: Int) throws(StorageError) -> OrderPrefix {
    try row(key) { (rows, slot) throws(StorageError) in
      try source.orderPrefix(rows, slot, order.terms[index])
    }
  }

  /// Compares two whole values whose prefixes are equal and not exact. Neither is null: the prefix
  /// of null is exact.
  func compareWhole(
    _ a: ObjectKey, _ b: ObjectKey, _ index: Int
  ) throws(StorageError) -> Int {
    let term = order.terms[index]
    let ascending: Int
    if term.path.type == .uuid {
      ascending = Scalar.compare(try scalar(a, term.path), try scalar(b, term.path))
    } else if term.path.type == .any {
      ascending = SequenceOrder.compare(try anyValue(a, term.path), try anyValue(b, term.path))
    } else if let collator = term.collator {
      let (a, b) = (
        try collationKey(of: a, term.path, collator), try collationKey(of: b, term.path, collator)
      )
      ascending = unsafe a.withUnsafeBytes { a in
        unsafe b.withUnsafeBytes { b in unsafe compareBytes(a, b) }
      }
    } else {
      ascending = try unsafe withText(a, term.path) { (a) throws(StorageError) in
        try unsafe withText(b, term.path) { b in unsafe compareBytes(a, b) }
      }
    }
    return term.isAscending ? ascending : -ascending
  }

  /// The whole collation key of a string.
  func collationKey(
    of key: ObjectKey, _ path: ColumnPath, _ collator: Collator
  ) throws(StorageError) -> [UInt8] {
    try unsafe withText(key, path) { bytes in unsafe collator.key(of: bytes) }
  }

  private func scalar(_ key: ObjectKey, _ path: ColumnPath) throws(StorageError) -> Scalar {
    try target(key, path) { rows, slot in rows.scalar(path, slot) } ?? .null
  }

  private func anyValue(_ key: ObjectKey, _ path: ColumnPath) throws(StorageError) -> Value {
    let found = try target(key, path) { (rows, slot) throws(StorageError) in
      try source.anyValue(rows, slot, path.classID, path.column)
    }
    return found ?? .null
  }

  private func withText<R>(
    _ key: ObjectKey, _ path: ColumnPath,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let found = try target(key, path) { (rows, slot) throws(StorageError) -> R in
      try unsafe source.withText(rows, slot, path) { (bytes) throws(StorageError) -> R in
        try unsafe body(bytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
    if let found { return found }
    return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Calls `body` with the row that has a path's column; nil if a link on the path is nil.
  private func target<R>(
    _ key: ObjectKey, _ path: ColumnPath,
    _ body: (RowCluster, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    try row(key) { (rows, slot) throws(StorageError) -> R? in
      if path.links.isEmpty { return try body(rows, slot) }
      return try source.withTarget(rows, slot, path.links, from: 0, body)
    }
  }

  private func row<R>(
    _ key: ObjectKey, _ body: (RowCluster, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    if let result = try source.withRow(order.classID, key, body) { return result }
    throw StorageError(
      .corrupted, operation: "sort", path: "",
      detail: "object \(key.rawValue) in the rows to sort does not exist")
  }
}
