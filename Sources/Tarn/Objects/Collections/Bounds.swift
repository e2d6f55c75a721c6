import TarnStore

/// Checks positions passed by the program. The standard library's checks, on which slices and
/// ranges rely, print no message in optimized builds.
enum Bounds {
  /// Traps for a position without an element.
  ///
  /// - Parameter collection: the collection, for its name.
  @inline(__always)
  static func check(_ position: Int, _ count: Int, of collection: @autoclosure () -> Any) {
    if position < 0 || position >= count { trapOutside(position, 0..<count, collection()) }
  }

  /// Traps for a position at which nothing can be inserted.
  static func check(insertionAt position: Int, _ count: Int, of collection: Any) {
    require(
      position >= 0 && position <= count,
      "Index \(position) is out of bounds (must be \(count) or less) of \(title(of: collection)). "
        + "Insert at an existing position or at count.")
  }

  /// Traps for a number of elements that is negative or larger than the count.
  static func check(number: Int, _ count: Int, of collection: Any) {
    require(
      number >= 0 && number <= count,
      "Cannot remove \(number) of \(count) elements of \(title(of: collection)). Check count first."
    )
  }

  /// Traps for positions that are not all within others.
  static func check(_ lower: Int, _ upper: Int, within bounds: Range<Int>, of collection: Any) {
    require(
      lower >= bounds.lowerBound && upper <= bounds.upperBound && lower <= upper,
      "Range \(lower)..<\(upper) is out of bounds (must be within \(bounds)) of "
        + "\(title(of: collection)). Check count first, or use prefix, suffix or dropFirst.")
  }

  /// Any kind of range as positions of a collection. Traps for one that is not within it.
  static func range<R: RangeExpression>(
    _ range: R, _ count: Int, of collection: Any
  ) -> Range<Int> where R.Bound == Int {
    func after(_ position: Int) -> Int { position == .max ? .max : position + 1 }
    let (lower, upper) =
      switch range {
      case let range as Range<Int>: (range.lowerBound, range.upperBound)
      case let range as ClosedRange<Int>: (range.lowerBound, after(range.upperBound))
      case let range as PartialRangeFrom<Int>: (range.lowerBound, count)
      case let range as PartialRangeUpTo<Int>: (0, range.upperBound)
      case let range as PartialRangeThrough<Int>: (0, after(range.upperBound))
      default: ends(range.relative(to: 0..<count))
      }
    check(lower, upper, within: 0..<count, of: collection)
    return lower..<upper
  }

  private static func ends(_ range: Range<Int>) -> (Int, Int) {
    (range.lowerBound, range.upperBound)
  }

  @inline(never)
  static func trapOutside(_ position: Int, _ bounds: Range<Int>, _ collection: Any) -> Never {
    let rule =
      bounds.lowerBound == 0
      ? "must be less than \(bounds.upperBound)"
      : "must be from \(bounds.lowerBound) to less than \(bounds.upperBound)"
    trap(
      "Index \(position) is out of bounds (\(rule)) of \(title(of: collection)). Check count "
        + "first, or use first, last or indices.")
  }

  private static func title(of collection: Any) -> String {
    guard let property = collection as? any _CollectionProperty else {
      return "\(type(of: collection))"
    }
    return (property.backing as? ManagedSequence)?.title ?? "an unmanaged \(type(of: collection))"
  }
}

/// The checks of slices before they read.
extension RandomAccessCollection where Self: ThreadConfined, Index == Int {
  /// Traps for a position without an element.
  public func _failEarlyRangeCheck(_ index: Int, bounds: Range<Int>) {
    if !bounds.contains(index) { Bounds.trapOutside(index, bounds, self) }
  }

  /// Traps for a position that is neither an element's nor the end.
  public func _failEarlyRangeCheck(_ index: Int, bounds: ClosedRange<Int>) {
    if !bounds.contains(index) {
      Bounds.trapOutside(index, bounds.lowerBound..<bounds.upperBound, self)
    }
  }

  /// Traps for a range that is not within the other.
  public func _failEarlyRangeCheck(_ range: Range<Int>, bounds: Range<Int>) {
    Bounds.check(range.lowerBound, range.upperBound, within: bounds, of: self)
  }

  /// The elements of a range, as a view of the collection. Traps if it is out of bounds.
  public subscript<R: RangeExpression>(range: R) -> SubSequence where R.Bound == Int {
    self[Bounds.range(range, count, of: self)]
  }
}
