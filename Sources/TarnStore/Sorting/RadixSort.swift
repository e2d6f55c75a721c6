/// Sorts by a 64-bit number; equal ones come in any order. Large arrays take one pass for every
/// 11 bits in which the numbers differ, which for keys from a counter is two or three passes.
@inline(__always)
func radixSort<Element: BitwiseCopyable>(
  _ elements: inout ContiguousArray<Element>, by order: (Element) -> UInt64
) {
  guard elements.count > 256 else {
    if elements.count > 1 { elements.sort { order($0) < order($1) } }
    return
  }
  let count = elements.count
  let spare = UnsafeMutablePointer<Element>.allocate(capacity: count)
  defer { unsafe spare.deallocate() }
  unsafe elements.withUnsafeMutableBufferPointer { elements in
    var (sorted, other) = unsafe (elements.baseAddress!, spare)
    unsafe radixSort(&sorted, &other, count: count, by: order)
    if unsafe sorted != elements.baseAddress! {
      unsafe elements.baseAddress!.update(from: sorted, count: count)
    }
  }
}

/// The same in memory that the caller has, with as much to work in, and equal ones as they were:
/// exchanges the two so that the sorted elements are in the first.
@inline(__always)
func radixSort<Element: BitwiseCopyable>(
  _ elements: inout UnsafeMutablePointer<Element>, _ spare: inout UnsafeMutablePointer<Element>,
  count: Int, by order: (Element) -> UInt64
) {
  let first = unsafe order(elements[0])
  var differing: UInt64 = 0
  for index in 0..<count { differing |= unsafe order(elements[index]) ^ first }
  unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 2048) { starts in
    var shift = UInt64(differing.trailingZeroBitCount)
    while shift < 64, differing >> shift != 0 {
      if (differing >> shift) & 2047 != 0 {
        unsafe distribute(elements, to: spare, count: count, starts, shift: shift, by: order)
        unsafe swap(&elements, &spare)
      }
      shift += 11
    }
  }
}

/// One pass: a stable sort by eleven bits.
@inline(__always)
private func distribute<Element: BitwiseCopyable>(
  _ source: UnsafeMutablePointer<Element>, to target: UnsafeMutablePointer<Element>, count: Int,
  _ starts: UnsafeMutableBufferPointer<Int>, shift: UInt64, by order: (Element) -> UInt64
) {
  unsafe starts.initialize(repeating: 0)
  for index in 0..<count {
    unsafe starts[Int((order(source[index]) >> shift) & 2047)] &+= 1
  }
  var start = 0
  for digit in 0..<2048 {
    let size = unsafe starts[digit]
    unsafe starts[digit] = start
    start &+= size
  }
  for index in 0..<count {
    let element = unsafe source[index]
    let digit = Int((order(element) >> shift) & 2047)
    unsafe (target + starts[digit]).initialize(to: element)
    unsafe starts[digit] &+= 1
  }
}
