/// The order of a set's elements and of a map's keys. Total: two values of the same place are the
/// same to a set.
///
/// Null comes first, then bool, numbers by value whatever their type (not a number first, -0 and 0
/// the same), string, data, date, object id, UUID, object. Texts and bytes compare bytewise.
package enum SequenceOrder {
  /// Less than, equal to or greater than zero as `a` stands before, at or behind `b`.
  package static func compare(_ a: Value, _ b: Value) -> Int {
    switch (a, b) {
    case (.int(let a), .int(let b)): sign(a, b)
    case (.link(let a), .link(let b)): sign(a, b)
    case (.string(let a), .string(let b)): compare(a, b)
    case (.bool(let a), .bool(let b)): sign(a ? 1 : 0, b ? 1 : 0)
    case (.date(let a), .date(let b)): sign(a, b)
    case (.objectID(let a), .objectID(let b)): sign(a, b)
    case (.uuid(let a), .uuid(let b)): sign(a, b)
    case (.float(let a), .float(let b)): sign(a.treeOrder, b.treeOrder)
    case (.double(let a), .double(let b)): sign(a.treeOrder, b.treeOrder)
    case (.data(let a), .data(let b)):
      unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe compareBytes(a, b) } }
    case (.object(let x, let a), .object(let y, let b)): x == y ? sign(a, b) : sign(x, y)
    default: rank(a) == rank(b) ? compareNumbers(a, b) : rank(a) - rank(b)
    }
  }

  /// Bytewise, by the UTF-8.
  package static func compare(_ a: String, _ b: String) -> Int {
    var (a, b) = (a, b)
    return a.withUTF8 { a in
      b.withUTF8 { b in
        unsafe compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
      }
    }
  }

  @inline(__always)
  private static func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .int, .float, .double, .decimal: 2
    case .string: 3
    case .data: 4
    case .date: 5
    case .objectID: 6
    case .uuid: 7
    case .link, .object: 8
    case .list, .map: 9
    }
  }

  // MARK: - Numbers of different types

  private static func compareNumbers(_ a: Value, _ b: Value) -> Int {
    switch (a, b) {
    case (.decimal(let a), .decimal(let b)):
      return sign(DecimalNumber(a).order, DecimalNumber(b).order)
    case (.decimal(let a), .int(let b)):
      return sign(DecimalNumber(a).order, DecimalNumber(b).order)
    case (.int(let a), .decimal(let b)):
      return sign(DecimalNumber(a).order, DecimalNumber(b).order)
    case (.decimal(let a), _): return DecimalNumber(a).compareExactly(double(b))
    case (_, .decimal(let b)): return -DecimalNumber(b).compareExactly(double(a))
    case (.int(let a), _): return compare(a, double(b))
    case (_, .int(let b)): return -compare(b, double(a))
    default: return sign(double(a).treeOrder, double(b).treeOrder)
    }
  }

  private static func double(_ value: Value) -> Double {
    switch value {
    case .float(let value): Double(value)
    case .double(let value): value
    default: 0
    }
  }

  private static func compare(_ a: DecimalNumber, _ b: Double) -> Int {
    let below = a.doubleBelow
    // Between the greatest double that is not above and the next one lies no other.
    let order = sign(below.value.treeOrder, b.treeOrder)
    return order != 0 || below.isExact || below.value.isNaN ? order : 1
  }

  private static func compare(_ a: Int64, _ b: Double) -> Int {
    if b.isNaN { return 1 }
    if b >= 0x1p63 { return -1 }
    if b < -0x1p63 { return 1 }
    let whole = b.rounded(.towardZero)
    let order = sign(a, Int64(whole))
    return order != 0 ? order : sign(whole, b)
  }
}
