/// Sorts by a 64-bit number; equal ones come in any order. Large arrays take one pass for every
/// 11 bits in which the numbers differ, which for keys from a counter is two or three passes.
func radixSort<Element>(
  _ elements: inout ContiguousArray<Element>, by order: (Element) -> UInt64
) {
  guard elements.count > 256 else {
    elements.sort { order($0) < order($1) }
    return
  }
  let first = order(elements[0])
  var differing: UInt64 = 0
  for element in elements { differing |= order(element) ^ first }
  var spare = elements
  var shift = 0
  var counts = ContiguousArray<Int>(repeating: 0, count: 2048)
  while shift < 64 {
    defer { shift += 11 }
    if (differing >> UInt64(shift)) & 2047 == 0 { continue }
    for index in counts.indices { counts[index] = 0 }
    for element in elements { counts[Int((order(element) >> UInt64(shift)) & 2047)] += 1 }
    var start = 0
    for index in counts.indices {
      let size = counts[index]
      counts[index] = start
      start += size
    }
    for element in elements {
      let digit = Int((order(element) >> UInt64(shift)) & 2047)
      spare[counts[digit]] = element
      counts[digit] += 1
    }
    swap(&elements, &spare)
  }
}
