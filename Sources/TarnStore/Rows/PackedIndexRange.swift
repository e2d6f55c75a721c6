/// A part of an index, by values. Bounds with a truncated key include every entry with that key,
/// also where the bound itself is to be excluded: the caller looks at the rows.
package struct PackedIndexRange: Sendable {
  /// A place between entries: before or after all entries with that key.
  struct Cut: Sendable {
    var key: OrderKey
    var isAfter: Bool

    /// How many entries of the page lie before the cut.
    func position(in page: IndexPage) throws(StorageError) -> Int {
      try unsafe key.withBytes { key throws(StorageError) -> Int in
        try unsafe page.position(of: key, isAfter ? .largest : .smallest, after: isAfter)
      }
    }
  }

  private(set) var lower: Cut?
  private(set) var upper: Cut?

  /// Every entry, null values included.
  package static let all = PackedIndexRange()
  /// Every entry with a value.
  package static let notNull = PackedIndexRange(above: .null)

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

  /// Entries between bounds, each of which may be missing. A range of values below a bound that
  /// has no lower bound includes null.
  package init(
    from: OrderKey? = nil, above: OrderKey? = nil, through: OrderKey? = nil,
    below: OrderKey? = nil
  ) {
    require(from == nil || above == nil, "a range has one lower bound")
    require(through == nil || below == nil, "a range has one upper bound")
    if let from { lower = Cut(key: from, isAfter: false) }
    if let above { lower = Cut(key: above, isAfter: !above.isTruncated) }
    if let through { upper = Cut(key: through, isAfter: true) }
    if let below { upper = Cut(key: below, isAfter: below.isTruncated) }
  }
}
