/// The order of all values: of a set's elements, a map's keys, and sorted results. Total: equal
/// values are the same element of a set.
///
/// Null comes first, then bool, numbers by value whatever their type (NaN first, -0 equal to 0),
/// string, data, date, object id, UUID, object. Strings and data compare bytewise.
///
/// `OrderKey` has the same order as bytes, for the values of one column, and `OrderPrefix` its
/// start as two numbers.
package enum SequenceOrder {
  /// Negative, zero or positive if `a` sorts before, with or after `b`.
  package static func compare(_ a: Value, _ b: Value) -> Int {
    switch (a, b) {
    case (.int(let a), .int(let b)): sign(a, b)
    case (.string(let a), .string(let b)): compare(a, b)
    case (.data(let a), .data(let b)):
      unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe compareBytes(a, b) } }
    case (.object(let x, let a), .object(let y, let b)): x == y ? sign(a, b) : sign(x, y)
    default: rank(a) == rank(b) ? compareScalars(a, b) : rank(a) - rank(b)
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

  /// Nested collections are all equal in order.
  private static func compareScalars(_ a: Value, _ b: Value) -> Int {
    guard let a = Scalar(a), let b = Scalar(b) else { return 0 }
    return Scalar.compare(a, b)
  }

  /// The rank of a value's kind, from 0 to 9.
  static func rank(_ value: Value) -> Int {
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
}

extension Double {
  /// An unsigned number in the order of the values: NaN first, both zeros equal.
  @inline(__always)
  package var treeOrder: UInt64 {
    guard !isNaN else { return 0 }
    let bits = (self == 0 ? 0 : self).bitPattern
    return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
  }
}

extension Float {
  /// An unsigned number in the order of the values: NaN first, both zeros equal.
  @inline(__always)
  package var treeOrder: UInt32 {
    guard !isNaN else { return 0 }
    let bits = (self == 0 ? 0 : self).bitPattern
    return bits >> 31 == 0 ? bits | (1 << 31) : ~bits
  }
}

/// Negative, zero or positive if `a` sorts before, with or after `b`: bytewise, a prefix first.
@inline(__always)
package func compareBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let shared = min(a.count, b.count)
  var offset = 0
  while offset + 8 <= shared {
    let x = unsafe a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let y = unsafe b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if x != y { return x.bigEndian < y.bigEndian ? -1 : 1 }
    offset += 8
  }
  while offset < shared {
    let x = unsafe a[offset]
    let y = unsafe b[offset]
    if x != y { return x < y ? -1 : 1 }
    offset += 1
  }
  return a.count - b.count
}
