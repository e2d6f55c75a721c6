/// A value of any type except strings and data. Never allocates.
///
/// Its order is that of values: null, bool, numbers of all types (NaN first, -0 equal to 0), date,
/// object id, UUID. `SequenceOrder` includes strings, data and objects, `OrderKey` and
/// `OrderPrefix` have the same order as bytes and as numbers, and values that are equal in it are
/// the same element of a set.
enum Scalar {
  case null
  /// Integers and the keys of links.
  case int(Int64)
  case bool(Bool)
  case double(Double)
  case decimal(DecimalNumber)
  case date(Timestamp)
  case bytes12(Bytes12)
  case bytes16(Bytes16)

  /// Nil for strings, data, objects of any class and collections.
  init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .int(let value): self = .int(value)
    case .bool(let value): self = .bool(value)
    case .float(let value): self = .double(Double(value))
    case .double(let value): self = .double(value)
    case .decimal(let cell): self = .decimal(DecimalNumber(cell))
    case .date(let value): self = .date(value)
    case .objectID(let value): self = .bytes12(value)
    case .uuid(let value): self = .bytes16(value)
    case .link(let key): self = .int(key.rawValue)
    case .string, .data, .object, .list, .map: return nil
    }
  }

  /// Integers of any type are integers, and floats doubles.
  var value: Value {
    switch self {
    case .null: .null
    case .int(let value): .int(value)
    case .bool(let value): .bool(value)
    case .double(let value): .double(value)
    case .decimal(let value): .decimal(value.cell)
    case .date(let value): .date(value)
    case .bytes12(let value): .objectID(value)
    case .bytes16(let value): .uuid(value)
    }
  }

  var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  var isNaN: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    default: false
    }
  }

  /// Negative, zero or positive if `a` sorts before, with or after `b`.
  static func compare(_ a: Scalar, _ b: Scalar) -> Int {
    switch (a, b) {
    case (.int(let a), .int(let b)): sign(a, b)
    case (.double(let a), .double(let b)): sign(a.treeOrder, b.treeOrder)
    case (.int(let a), .double(let b)): b.isNaN ? 1 : compareExactly(a, b)
    case (.double(let a), .int(let b)): a.isNaN ? -1 : -compareExactly(b, a)
    case (.decimal(let a), .decimal(let b)): sign(a.order, b.order)
    case (.decimal(let a), .int(let b)): sign(a.order, DecimalNumber(b).order)
    case (.int(let a), .decimal(let b)): sign(DecimalNumber(a).order, b.order)
    case (.decimal(let a), .double(let b)): a.compareExactly(b)
    case (.double(let a), .decimal(let b)): -b.compareExactly(a)
    case (.bool(let a), .bool(let b)): sign(a ? 1 : 0, b ? 1 : 0)
    case (.date(let a), .date(let b)): sign(a, b)
    case (.bytes12(let a), .bytes12(let b)): sign(a, b)
    case (.bytes16(let a), .bytes16(let b)): sign(a, b)
    default: a.kind - b.kind
    }
  }

  private var kind: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int, .double, .decimal: 2
    case .date: 3
    case .bytes12: 4
    case .bytes16: 5
    }
  }
}

extension Scalar: Hashable {
  static func == (a: Self, b: Self) -> Bool { compare(a, b) == 0 }

  /// A number that a double can represent is hashed as a double whatever its type, any other as a
  /// decimal.
  func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .int(let value):
      let double = Double(value)
      if Int64(exactly: double) == value {
        hasher.combine(double.treeOrder)
      } else {
        hasher.combine(DecimalNumber(value).order)
      }
    case .bool(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.treeOrder)
    case .decimal(let value):
      let (double, isExact) = value.doubleBelow
      if isExact || value.isNaN {
        hasher.combine(double.treeOrder)
      } else {
        hasher.combine(value.order)
      }
    case .date(let value): hasher.combine(value)
    case .bytes12(let value): hasher.combine(value)
    case .bytes16(let value): hasher.combine(value)
    }
  }
}

/// Negative, zero or positive if `a` is less than, equal to or greater than `b`.
@inline(__always)
func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : (b < a ? 1 : 0) }

/// Compares an integer with a double that is not NaN, exactly: neither is rounded.
@inline(__always)
func compareExactly(_ a: Int64, _ b: Double) -> Int {
  // The integer part of every double from -2^63 to below 2^63 fits 64 bits.
  if b >= 0x1p63 { return -1 }
  if b < -0x1p63 { return 1 }
  let integer = Int64(b)
  return a == integer ? sign(Double(integer), b) : sign(a, integer)
}
