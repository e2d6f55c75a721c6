/// A comparison of two sides. It is true if the comparison of some value of one side with the
/// single value of the other is true.
final class ValuePair: Hashable, Sendable {
  let left: ValueSource
  let op: ComparisonOperator
  let right: ValueSource
  let options: StringOptions
  /// Both sides have only strings, or null, which precedes them.
  let areStrings: Bool

  /// At least one side has one value.
  init(
    _ left: ValueSource, _ op: ComparisonOperator, _ right: ValueSource,
    _ options: StringOptions = [], areStrings: Bool = false
  ) {
    assert(left.hasOne || right.hasOne, "a comparison of all with all")
    self.left = left
    self.op = op
    self.right = right
    self.options = options
    self.areStrings = areStrings
  }

  static func == (a: ValuePair, b: ValuePair) -> Bool {
    a === b
      || (a.left == b.left && a.op == b.op && a.right == b.right && a.options == b.options
        && a.areStrings == b.areStrings)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(left)
    hasher.combine(op)
    hasher.combine(right)
    hasher.combine(options)
  }

  /// The approximate cost of a row in a scan, in nanoseconds.
  var cost: Int {
    let own = if case (.column, .column) = (left, right) { 30 } else { 500 }
    return own + (left.linkCount + right.linkCount) * 100
  }

  func matches<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    if case (.column(let left), .column(let right)) = (left, right) {
      return try matches(left, right, cluster, slot, rows)
    }
    let (many, one) = right.hasOne ? (left, right) : (right, left)
    var single = Value.null
    _ = try one.contains(cluster, slot, rows) { value in
      single = value
      return true
    }
    return try many.contains(cluster, slot, rows) { value in accepts(value, single) }
  }

  /// The result if a link to the object is nil.
  var holdsBehindNothing: Bool {
    let (many, one) = right.hasOne ? (left, right) : (right, left)
    var single = Value.null
    _ = one.containsBehindNothing { value in
      single = value
      return true
    }
    return many.containsBehindNothing { value in accepts(value, single) }
  }

  private func accepts(_ value: Value, _ single: Value) -> Bool {
    let (a, b) = right.hasOne ? (value, single) : (single, value)
    if areStrings, (a == .null) != (b == .null) { return op.accepts(a == .null ? -1 : 1) }
    return op.accepts(a, b, options)
  }
}

// MARK: - Two columns

/// Values of two columns are compared in place, without copying strings.
extension ValuePair {
  private func matches<Cluster: RowReading>(
    _ left: ColumnPath, _ right: ColumnPath, _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    guard left.type == .string || left.type == .data else {
      return op.accepts(
        try rows.scalar(left, cluster, slot), try rows.scalar(right, cluster, slot))
    }
    return try unsafe withText(left, cluster, slot, rows) { (a) throws(StorageError) in
      try unsafe withText(right, cluster, slot, rows) { (b) throws(StorageError) in
        unsafe matches(a, b)
      }
    }
  }

  private func withText<Cluster: RowReading, R>(
    _ path: ColumnPath, _ cluster: Cluster, _ slot: Int, _ rows: Rows,
    _ body: (UnsafeRawBufferPointer?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    if path.links.isEmpty { return try unsafe rows.withText(cluster, slot, path, body) }
    let found = try rows.withTarget(cluster, slot, path.links, from: 0) {
      (cluster, slot) throws(StorageError) -> R in
      try unsafe rows.withText(cluster, slot, path, body)
    }
    if let found { return found }
    return try body(nil)
  }

  private func matches(_ a: UnsafeRawBufferPointer?, _ b: UnsafeRawBufferPointer?) -> Bool {
    guard let a = unsafe a else {
      return unsafe b == nil ? op.accepts(0) : acceptsOneNull(order: -1)
    }
    guard let b = unsafe b else { return acceptsOneNull(order: 1) }
    return unsafe op.accepts(a, b, options)
  }

  /// - Parameter order: the order of the sides, null first.
  private func acceptsOneNull(order: Int) -> Bool {
    areStrings ? op.accepts(order) : op == .notEqual
  }
}

extension ComparisonOperator {
  /// Whether the comparison of two values of any kinds is true, as for a constant. Values of
  /// different kinds are unequal and have no order, and lists and maps equal nothing.
  fileprivate func accepts(_ a: Value, _ b: Value, _ options: StringOptions) -> Bool {
    switch (a, b) {
    case (.string(var a), .string(var b)):
      return a.withUTF8 { a in
        b.withUTF8 { b in
          unsafe accepts(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b), options)
        }
      }
    case (.data(let a), .data(let b)):
      guard self != .like else { return false }
      return unsafe a.withUnsafeBytes { a in
        unsafe b.withUnsafeBytes { b in unsafe accepts(a, b, options) }
      }
    // Without its class, the key of an object does not identify it.
    case (.link, _), (_, .link): return self == .notEqual
    case _ where self == .equal: return a.isEqual(inCondition: b)
    case _ where self == .notEqual: return !a.isEqual(inCondition: b)
    case (.bool, _): return false
    default:
      guard SequenceOrder.rank(a) == SequenceOrder.rank(b), let a = Scalar(a), let b = Scalar(b)
      else { return false }
      return accepts(a, b)
    }
  }
}
