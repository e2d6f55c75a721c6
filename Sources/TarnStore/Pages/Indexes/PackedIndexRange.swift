/// A range of an index, by values. Bounds with a truncated key include every entry with that key,
/// even if the bound is exclusive: the caller checks the rows.
package struct PackedIndexRange: Sendable {
  /// A position between entries: before or after all entries with a key, or the entry of an object.
  struct Cut: Sendable {
    var key: OrderKey
    var isAfter: Bool
    var object: ObjectKey?

    /// The object of the entry that it is before or after.
    var bound: ObjectKey { object ?? (isAfter ? .largest : .smallest) }

    /// The number of entries of the page before the cut.
    func position(in page: IndexPage) throws(StorageError) -> Int {
      try unsafe key.withBytes { key throws(StorageError) -> Int in
        try unsafe page.position(of: key, bound, after: isAfter)
      }
    }
  }

  private(set) var lower: Cut?
  private(set) var upper: Cut?

  /// Every entry, including null values.
  package static let all = PackedIndexRange()

  /// Entries with that value.
  package static func equal(_ key: OrderKey) -> PackedIndexRange {
    PackedIndexRange(from: key, through: key)
  }

  /// Entries whose string or data starts with those bytes.
  package static func prefix(_ bytes: UnsafeRawBufferPointer) -> PackedIndexRange {
    let key = unsafe OrderKey(bytes: bytes)
    var range = PackedIndexRange()
    range.lower = Cut(key: key, isAfter: false)
    range.upper = Cut(key: key.afterPrefixed, isAfter: false)
    return range
  }

  /// Entries between bounds, which are optional. A range with only an upper bound includes null.
  package init(
    from: OrderKey? = nil, above: OrderKey? = nil, through: OrderKey? = nil,
    below: OrderKey? = nil
  ) {
    require(from == nil || above == nil, "a range can have only one lower bound")
    require(through == nil || below == nil, "a range can have only one upper bound")
    if let from { lower = Cut(key: from, isAfter: false) }
    if let above { lower = Cut(key: above, isAfter: !above.isTruncated) }
    if let through { upper = Cut(key: through, isAfter: true) }
    if let below { upper = Cut(key: below, isAfter: below.isTruncated) }
  }
}

extension PackedIndexRange.Cut: Comparable {
  /// If two cuts are at one key, the one after its entries is greater.
  static func < (a: Self, b: Self) -> Bool {
    a.key != b.key ? a.key < b.key : !a.isAfter && b.isAfter
  }

  static func == (a: Self, b: Self) -> Bool {
    a.key == b.key && a.isAfter == b.isAfter && a.object == b.object
  }
}

extension PackedIndexRange: Equatable {
  /// The entries in both ranges; nil without any.
  func intersection(_ other: PackedIndexRange) -> PackedIndexRange? {
    var result = self
    if let cut = other.lower, lower.map({ $0 < cut }) ?? true { result.lower = cut }
    if let cut = other.upper, upper.map({ cut < $0 }) ?? true { result.upper = cut }
    if let lower = result.lower, let upper = result.upper, lower >= upper { return nil }
    return result
  }

  /// The rest of the range after an entry in it.
  func beyond(
    _ value: OrderKey, _ object: ObjectKey, descending: Bool
  ) -> PackedIndexRange {
    var rest = self
    let cut = Cut(key: value, isAfter: !descending, object: object)
    if descending { rest.upper = cut } else { rest.lower = cut }
    return rest
  }

  /// True if an entry with that order key is in the range.
  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let lower {
      let order = unsafe lower.key.withBytes { unsafe compareBytes(bytes, $0) }
      guard order > 0 || order == 0 && !lower.isAfter else { return false }
    }
    guard let upper else { return true }
    let order = unsafe upper.key.withBytes { unsafe compareBytes(bytes, $0) }
    return order < 0 || order == 0 && upper.isAfter
  }

  /// True if a bound is truncated, so that the range may contain entries outside of the requested
  /// values.
  var isWider: Bool { lower?.key.isTruncated == true || upper?.key.isTruncated == true }
}

/// Indexes over mixed values, where values of one type are adjacent.
extension PackedIndexRange {
  /// Every entry of a value that is neither null nor an object.
  static let anyTypeValues = PackedIndexRange(from: .firstOfAnyType)

  /// The range of mixed values that corresponds to a range of that type.
  func within(_ type: ColumnType) -> PackedIndexRange {
    let all = OrderKey(anyOf: type)
    var range = PackedIndexRange()
    range.lower = Cut(key: all, isAfter: false)
    range.upper = Cut(key: all.afterPrefixed, isAfter: false)
    if let lower, lower.key.holdsValue { range.lower = lower.within(type, isUpper: false) }
    if let upper, upper.key.holdsValue { range.upper = upper.within(type, isUpper: true) }
    return range
  }
}

extension PackedIndexRange.Cut {
  /// Includes entries that a truncated key may represent.
  fileprivate func within(_ type: ColumnType, isUpper: Bool) -> Self {
    let key = key.within(type)
    return Self(key: key, isAfter: key.isTruncated ? isUpper : isAfter)
  }
}
