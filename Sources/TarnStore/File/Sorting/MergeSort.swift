/// A stable sort with an order that may throw; the standard library's sort would lose the error's
/// type. If it throws, the elements keep their order.
///
/// Not for an order that does not throw: the optimizer of Swift 6.3 turns that into a trap.
func mergeSort<Element: BitwiseCopyable, E: Error>(
  _ elements: inout [Element], _ isOrderedBefore: (Element, Element) throws(E) -> Bool
) throws(E) {
  if elements.count < 2 { return }
  var sorted = elements
  var spare = elements
  try unsafe sorted.withUnsafeMutableBufferPointer { (sorted) throws(E) in
    try unsafe spare.withUnsafeMutableBufferPointer { (spare) throws(E) in
      try unsafe mergeSort(
        sorted.baseAddress!, spare.baseAddress!, count: sorted.count, isOrderedBefore)
    }
  }
  elements = sorted
}

/// The same in memory of the caller, with as much scratch memory.
@inline(__always)
func mergeSort<Element: BitwiseCopyable, E: Error>(
  _ elements: UnsafeMutablePointer<Element>, _ spare: UnsafeMutablePointer<Element>, count: Int,
  _ isOrderedBefore: (Element, Element) throws(E) -> Bool
) throws(E) {
  var width = 8
  for start in stride(from: 0, to: count, by: width) {
    try unsafe insertionSort(elements + start, count: min(width, count - start), isOrderedBefore)
  }
  var (from, to) = unsafe (elements, spare)
  while width < count {
    for start in stride(from: 0, to: count, by: width * 2) {
      let middle = min(start + width, count)
      try unsafe merge(from, to, start, middle, min(middle + width, count), isOrderedBefore)
    }
    unsafe swap(&from, &to)
    width *= 2
  }
  if unsafe from != elements { unsafe elements.update(from: from, count: count) }
}

@inline(__always)
private func insertionSort<Element: BitwiseCopyable, E: Error>(
  _ elements: UnsafeMutablePointer<Element>, count: Int,
  _ isOrderedBefore: (Element, Element) throws(E) -> Bool
) throws(E) {
  for index in 1..<max(count, 1) {
    let element = unsafe elements[index]
    let position = try (0..<index).partitioningIndex { (other) throws(E) in
      try unsafe isOrderedBefore(element, elements[other])
    }
    var hole = index
    while hole > position {
      unsafe elements[hole] = elements[hole - 1]
      hole -= 1
    }
    unsafe elements[position] = element
  }
}

@inline(__always)
private func merge<Element: BitwiseCopyable, E: Error>(
  _ from: UnsafeMutablePointer<Element>, _ to: UnsafeMutablePointer<Element>,
  _ start: Int, _ middle: Int, _ end: Int,
  _ isOrderedBefore: (Element, Element) throws(E) -> Bool
) throws(E) {
  var (left, right) = (start, middle)
  // Sorted input stays in order at the cost of one comparison.
  if middle < end, try unsafe !isOrderedBefore(from[middle], from[middle - 1]) { right = end }
  if right == end {
    unsafe (to + start).update(from: from + start, count: end - start)
    return
  }
  for position in start..<end {
    let takesRight: Bool
    if left < middle && right < end {
      takesRight = try unsafe isOrderedBefore(from[right], from[left])
    } else {
      takesRight = right < end
    }
    if takesRight {
      unsafe to[position] = from[right]
      right += 1
    } else {
      unsafe to[position] = from[left]
      left += 1
    }
  }
}
