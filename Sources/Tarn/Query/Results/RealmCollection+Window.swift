import TarnStore

extension RealmCollection {
  /// The elements at some positions of the collection, live: observers receive the elements that
  /// enter the window, those that leave it, and changes and moves inside.
  ///
  /// ```swift
  /// let page = dogs.sorted(by: \.name).window(100..<150)
  /// let youngest = dogs.sorted(by: \.age).limit(10)
  /// ```
  ///
  /// Positions count from 0 within the window. If the collection is shorter, the window is too; it
  /// grows again when elements are added. `results[100..<150]` is a `Slice` instead, which has
  /// fixed positions and is not observed.
  ///
  /// The window is always applied last, wherever it is written: a condition, an order or `distinct`
  /// after it applies to the whole collection, and the window takes those positions of the result.
  /// A window on a window counts from the beginning of the first one.
  ///
  /// For observers the order of all elements is maintained, so a step of an observed window takes
  /// as long as one of the whole collection, and so does its first call. Reading the first elements
  /// of an order sorts no others. With an index, or in the order of the keys, it also reads few
  /// others.
  ///
  /// Traps for a negative position, and for an unmanaged or invalidated collection.
  public func window(_ positions: some RangeExpression<Int>) -> Results<Element> {
    let range = positions.relative(to: Positions())
    require(
      range.lowerBound >= 0,
      "A window must begin at position 0 or later, not at \(range.lowerBound).")
    let base = _derivation
    return Results(base.core, base.spec.windowed(range), createdInWrite: base.createdInWrite)
  }

  /// The first elements of the collection, live, like `window(_:)`. Traps for a negative number,
  /// and for an unmanaged or invalidated collection.
  public func limit(_ count: Int) -> Results<Element> {
    require(count >= 0, "A limit must be 0 or more, not \(count).")
    return window(0..<count)
  }

  /// All elements of the collection except the first ones, live, like `window(_:)`. Traps for a
  /// negative number, and for an unmanaged or invalidated collection.
  public func offset(_ count: Int) -> Results<Element> {
    require(count >= 0, "An offset must be 0 or more, not \(count).")
    return window(count...)
  }
}

/// All possible positions.
private struct Positions: Collection {
  var startIndex: Int { 0 }
  var endIndex: Int { .max }
  /// No collection is so large that the last position matters.
  func index(after position: Int) -> Int { position == .max ? .max : position + 1 }
  subscript(position: Int) -> Int { position }
}
