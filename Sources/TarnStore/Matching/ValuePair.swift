/// A comparison of which at least one side is not in a plain column. It is true if some value of
/// one side compares so with the one value that the other has.
final class ValuePair: Hashable, Sendable {
  let left: ValueSource
  let op: ComparisonOperator
  let right: ValueSource
  let options: StringOptions
  /// Both sides have strings only, or null, which precedes them.
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

  func matches<Rows: RowReading, Source: RowSource>(
    _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> Bool {
    let (many, one) = right.hasOne ? (left, right) : (right, left)
    var single = Value.null
    _ = try one.contains(rows, slot, source) { value in
      single = value
      return true
    }
    return try many.contains(rows, slot, source) { value in accepts(value, single) }
  }

  /// The answer where the way to the object has led nowhere.
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

extension ComparisonOperator {
  /// Whether two values of any kinds compare so, as a value does with a constant. Those of
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
    // The key of an object says nothing without its class.
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

  /// Whether texts or data compare so.
  func accepts(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, _ options: StringOptions
  ) -> Bool {
    guard !options.isEmpty else { return unsafe acceptsExactly(a, b) }
    return unsafe TextPattern.withFolded(a, options) { a in
      unsafe TextPattern.withFolded(b, options) { b in unsafe acceptsExactly(a, b) }
    }
  }

  private func acceptsExactly(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .contains: unsafe TextPattern.contains(a, b)
    case .beginsWith: unsafe TextPattern.begins(a, b)
    case .endsWith: unsafe TextPattern.ends(a, b)
    case .like: unsafe TextPattern.isLike(a, b)
    default: unsafe accepts(compareBytes(a, b))
    }
  }
}
