extension RandomAccessCollection {
  /// The first index from which on all elements satisfy the condition; the end if none does.
  @inlinable
  @inline(__always)
  package func partitioningIndex<E: Error>(
    where isLater: (Element) throws(E) -> Bool
  ) throws(E) -> Index {
    var low = startIndex
    var length = count
    while length > 0 {
      let half = length >> 1
      let middle = index(low, offsetBy: half)
      if try isLater(self[middle]) {
        length = half
      } else {
        low = index(after: middle)
        length -= half + 1
      }
    }
    return low
  }
}

extension Range<Int> {
  /// The same for positions, without a collection's bounds checks.
  @inlinable
  @inline(__always)
  package func partitioningIndex<E: Error>(
    where isLater: (Int) throws(E) -> Bool
  ) throws(E) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = (low &+ high) >> 1
      if try isLater(middle) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }

  /// A position for which `order` returns zero, where it returns negative for all earlier ones and
  /// positive for all later ones; without one, the first of the later ones.
  @inline(__always)
  func search<E: Error>(
    _ order: (Int) throws(E) -> Int
  ) throws(E) -> (index: Int, isFound: Bool) {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = (low &+ high) >> 1
      let found = try order(middle)
      if found == 0 { return (middle, true) }
      if found < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  /// The same as `partitioningIndex`, for elements that are not later, without branches that depend
  /// on the elements: faster if they are in the cache and branches would be unpredictable.
  @inline(__always)
  func firstIndexWithoutBranches(notBefore isBefore: (Int) -> Bool) -> Int {
    var low = lowerBound
    var length = count
    while length > 1 {
      let half = length / 2
      low = isBefore(low + half - 1) ? low + half : low
      length -= half
    }
    return length == 1 && isBefore(low) ? low + 1 : low
  }
}
