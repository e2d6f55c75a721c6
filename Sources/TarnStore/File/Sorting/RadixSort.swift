/// Sorts by a 64-bit number, not stable. Large arrays take one pass per 11 bits in which the
/// numbers differ, which for keys from a counter is two or three passes.
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
    let first = unsafe order(elements[0])
    var varying: UInt64 = 0
    for index in 0..<count { varying |= unsafe order(elements[index]) ^ first }
    unsafe radixSort(&sorted, &other, count: count, varying: varying, by: order)
    if unsafe sorted != elements.baseAddress! {
      unsafe elements.baseAddress!.update(from: sorted, count: count)
    }
  }
}

/// The same in memory of the caller, with as much scratch memory, and stable: swaps the two so that
/// the sorted elements are in the first.
///
/// - Parameter varying: the bits in which the numbers differ.
@inline(__always)
func radixSort<Element: BitwiseCopyable>(
  _ elements: inout UnsafeMutablePointer<Element>, _ spare: inout UnsafeMutablePointer<Element>,
  count: Int, varying: UInt64, by order: (Element) -> UInt64
) {
  require(count <= Int(UInt32.max), "internal error: a sort of more than four billion")
  let digits = RadixDigit.digits(of: varying)
  unsafe withUnsafeTemporaryAllocation(
    of: UInt32.self, capacity: digits.count * RadixDigit.values
  ) { counts in
    unsafe counts.initialize(repeating: 0)
    for index in 0..<count {
      let number = unsafe order(elements[index])
      for place in digits.indices {
        unsafe counts[place &* RadixDigit.values &+ digits[place].value(of: number)] &+= 1
      }
    }
    for (place, digit) in digits.enumerated() {
      let starts = unsafe counts.baseAddress! + place * RadixDigit.values
      unsafe distribute(elements, to: spare, count: count, starts, digit, by: order)
      unsafe swap(&elements, &spare)
    }
  }
}

/// The bits that one pass sorts by: one run or two, the second more significant.
///
/// Two, because the bits that differ in text have gaps: lower-case letters differ in five bits of
/// each byte, so eight letters take four passes and not six.
struct RadixDigit {
  static let bits = 11
  static let values = 1 << bits

  private var shift: UInt64
  private var mask: UInt64
  private var upperShift: UInt64 = 0
  private var upperMask: UInt64 = 0

  @inline(__always)
  func value(of number: UInt64) -> Int {
    Int(truncatingIfNeeded: (number &>> shift) & mask | (number &>> upperShift) & upperMask)
  }

  /// Digits that cover all of the bits, the least significant first.
  static func digits(of varying: UInt64) -> [RadixDigit] {
    let plain = plainDigits(of: varying)
    var digits: [RadixDigit] = []
    var rest = varying
    while rest != 0, digits.count < plain.count {
      let lower = takeRun(from: &rest, atMost: bits)
      var digit = RadixDigit(shift: lower.shift, mask: (1 << lower.width) - 1)
      if rest != 0, lower.width < bits {
        let upper = takeRun(from: &rest, atMost: bits - Int(lower.width))
        digit.upperShift = upper.shift - lower.width
        digit.upperMask = ((1 << upper.width) - 1) << lower.width
      }
      digits.append(digit)
    }
    return rest == 0 && digits.count < plain.count ? digits : plain
  }

  /// Eleven bits per digit, including those that do not differ.
  private static func plainDigits(of varying: UInt64) -> [RadixDigit] {
    var digits: [RadixDigit] = []
    var rest = varying
    while rest != 0 {
      let digit = RadixDigit(shift: UInt64(rest.trailingZeroBitCount), mask: UInt64(values - 1))
      rest &= ~(digit.mask << digit.shift)
      digits.append(digit)
    }
    return digits
  }

  /// The lowest run of adjacent set bits.
  private static func takeRun(
    from rest: inout UInt64, atMost widest: Int
  ) -> (shift: UInt64, width: UInt64) {
    let shift = rest.trailingZeroBitCount
    let width = min((~(rest >> shift)).trailingZeroBitCount, widest)
    rest &= ~(((1 << width) - 1) << shift)
    return (UInt64(shift), UInt64(width))
  }
}

/// One pass: a stable sort by one digit.
///
/// - Parameter starts: the number of elements with each value of the digit; overwritten.
@inline(__always)
private func distribute<Element: BitwiseCopyable>(
  _ source: UnsafeMutablePointer<Element>, to target: UnsafeMutablePointer<Element>, count: Int,
  _ starts: UnsafeMutablePointer<UInt32>, _ digit: RadixDigit, by order: (Element) -> UInt64
) {
  var start: UInt32 = 0
  for value in 0..<RadixDigit.values {
    let size = unsafe starts[value]
    unsafe starts[value] = start
    start &+= size
  }
  for index in 0..<count {
    let element = unsafe source[index]
    let value = digit.value(of: order(element))
    let position = unsafe starts[value]
    unsafe (target + Int(position)).initialize(to: element)
    unsafe starts[value] = position &+ 1
  }
}
