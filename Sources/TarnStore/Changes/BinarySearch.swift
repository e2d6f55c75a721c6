extension RandomAccessCollection {
  /// The first index whose element fulfils a condition that all later ones fulfil, too.
  @inlinable
  package func partitioningIndex(where isLater: (Element) -> Bool) -> Index {
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
