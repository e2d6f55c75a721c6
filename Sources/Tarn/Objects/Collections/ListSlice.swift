import TarnStore

/// Adjacent elements of a list, at the positions that they have in the list.
///
/// Changes of the slice change the list at once. It is not a `Slice` of the standard library, which
/// swaps two elements by two assignments, while an embedded object can be in only one position.
public struct ListSlice<Element: RealmCollectionValue>: MutableCollection, RandomAccessCollection {
  /// The list.
  public let base: List<Element>
  public let startIndex: Int
  public let endIndex: Int

  init(_ base: List<Element>, _ bounds: Range<Int>) {
    self.base = base
    (startIndex, endIndex) = (bounds.lowerBound, bounds.upperBound)
  }

  /// The element at a position of the list. Traps if it is out of bounds. Setting also traps
  /// outside of a write, and for an embedded object that is at another position of the list.
  public subscript(position: Int) -> Element {
    get {
      check(position)
      return base[position]
    }
    nonmutating set {
      check(position)
      if Element._isObject, let object = newValue as? EmbeddedObject,
        let current = base.index(of: newValue),
        current != position
      {
        trap(
          "The \(type(of: object)) at \(current) cannot be put at \(position) through a slice: it "
            + "can be in only one position, and the list would lose an element. Use swapAt(_:_:) "
            + "or move(from:to:).")
      }
      base[position] = newValue
    }
  }

  /// The elements of a range within this one. Setting replaces them.
  public subscript(bounds: Range<Int>) -> ListSlice<Element> {
    get {
      Bounds.check(bounds.lowerBound, bounds.upperBound, within: startIndex..<endIndex, of: base)
      return ListSlice(base, bounds)
    }
    set {
      Bounds.check(bounds.lowerBound, bounds.upperBound, within: startIndex..<endIndex, of: base)
      base[bounds] = newValue
    }
  }

  /// Exchanges two elements of the list. Traps if one of the positions is out of bounds.
  public mutating func swapAt(_ first: Int, _ second: Int) {
    check(first)
    check(second)
    base.swapAt(first, second)
  }

  /// See ``List/withContiguousMutableStorageIfAvailable(_:)``.
  public mutating func withContiguousMutableStorageIfAvailable<R>(
    _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    unsafe try base.withContiguousMutableStorage(of: startIndex..<endIndex, body)
  }

  private func check(_ position: Int) {
    if position < startIndex || position >= endIndex {
      Bounds.trapOutside(position, startIndex..<endIndex, base)
    }
  }
}

@available(*, unavailable, message: "it belongs to its list: pass a ThreadSafeReference to that")
extension ListSlice: Sendable {}
