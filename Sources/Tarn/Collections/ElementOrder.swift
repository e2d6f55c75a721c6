import TarnStore

/// The order of values in sets and of keys in maps: that in which they are stored.
enum ElementOrder {
  /// Nil comes first, then numbers and dates by size (of floats those that are no number before
  /// all others), text and bytes byte by byte.
  static func precedes(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.null, let other): other != .null
    case (.int(let a), .int(let b)): a < b
    case (.bool(let a), .bool(let b)): !a && b
    case (.float(let a), .float(let b)): precedes(Double(a), Double(b))
    case (.double(let a), .double(let b)): precedes(a, b)
    case (.string(let a), .string(let b)): precedes(a, b)
    case (.data(let a), .data(let b)): a.lexicographicallyPrecedes(b)
    case (.date(let a), .date(let b)): a < b
    case (.objectID(let a), .objectID(let b)): a < b
    case (.uuid(let a), .uuid(let b)): a < b
    case (.decimal(let a), .decimal(let b)): DecimalNumber(a).order < DecimalNumber(b).order
    case (.link(let a), .link(let b)): a < b
    default: false
    }
  }

  static func precedes(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  private static func precedes(_ a: Double, _ b: Double) -> Bool {
    a.isNaN ? !b.isNaN : a < b
  }

  /// True for the same object, or for values of which neither precedes the other.
  static func areEqual(_ a: _BoxedValue, _ b: _BoxedValue) -> Bool {
    if let first = a.object {
      guard let second = b.object else { return false }
      return first === second || first._isSameRow(as: second)
    }
    return b.object == nil && !precedes(a.value, b.value) && !precedes(b.value, a.value)
  }
}

extension RandomAccessCollection {
  /// The first index whose element fulfils a condition that all later ones fulfil, too.
  func partitioningIndex(where isLater: (Element) -> Bool) -> Index {
    var low = startIndex
    var length = count
    while length > 0 {
      let half = length / 2
      let middle = index(low, offsetBy: half)
      if isLater(self[middle]) {
        length = half
      } else {
        low = index(after: middle)
        length -= half + 1
      }
    }
    return low
  }
}
