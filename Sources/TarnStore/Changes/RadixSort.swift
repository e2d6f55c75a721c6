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
  let first = order(elements[0])
  var differing: UInt64 = 0
  for element in elements { differing |= order(element) ^ first }
  let count = elements.count
  unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 2048) { starts in
    var shift: UInt64 = 0
    while shift < 64 {
      if (differing >> shift) & 2047 != 0 {
        elements = unsafe ContiguousArray(unsafeUninitializedCapacity: count) { target, filled in
          unsafe elements.withUnsafeBufferPointer { source in
            unsafe distribute(source, to: target, starts, shift: shift, by: order)
          }
          filled = count
        }
      }
      shift += 11
    }
  }
}

/// One pass: a stable sort by eleven bits.
@inline(__always)
private func distribute<Element: BitwiseCopyable>(
  _ source: UnsafeBufferPointer<Element>, to target: UnsafeMutableBufferPointer<Element>,
  _ starts: UnsafeMutableBufferPointer<Int>, shift: UInt64, by order: (Element) -> UInt64
) {
  unsafe starts.initialize(repeating: 0)
  for index in 0..<source.count {
    unsafe starts[Int((order(source[index]) >> shift) & 2047)] &+= 1
  }
  var start = 0
  for digit in 0..<2048 {
    let size = unsafe starts[digit]
    unsafe starts[digit] = start
    start &+= size
  }
  for index in 0..<source.count {
    let element = unsafe source[index]
    let digit = Int((order(element) >> shift) & 2047)
    unsafe (target.baseAddress! + starts[digit]).initialize(to: element)
    unsafe starts[digit] &+= 1
  }
}
