/// A sum of doubles that is never rounded while numbers are added and removed: it depends only on
/// the remaining numbers. `value` is the nearest double, to even on ties.
///
/// The numbers are added as multiples of a power of two, in 128 bits as long as they fit, which is
/// some 70 binary orders of magnitude; then in as many bits as any double needs. NaN must not be
/// added. Infinities are counted: a sum of both is NaN.
package struct ExactSum: Sendable {
  /// The sum, in units of two to the power of `exponent`, unless `wide` has it.
  private var units: Int128 = 0
  private var exponent = Self.unplaced
  private var wide: WideSum?
  private var infinities = (positive: Int32(0), negative: Int32(0))

  /// No number fits yet, so each one takes the slow path.
  private static let unplaced = Int.max / 2
  /// Shifted by that much, a number of 53 bits leaves two bits of 128.
  private static let shiftMax = 73

  package init() {}

  @inline(__always)
  package mutating func add(_ number: Double) {
    if !take(number) { addSlowly(number, isRemoved: false) }
  }

  /// Removes a number that was added.
  @inline(__always)
  package mutating func remove(_ number: Double) {
    if !take(-number) { addSlowly(number, isRemoved: true) }
  }

  /// False if the number does not fit; then nothing has changed.
  @inline(__always)
  private mutating func take(_ number: Double) -> Bool {
    let parts = DoubleParts(number)
    let shift = parts.exponent &- exponent
    guard parts.isNormal, shift >= 0, shift <= Self.shiftMax else { return false }
    let amount = Int128(truncatingIfNeeded: parts.significand) &<< Int128(shift)
    let (sum, overflow) = units.addingReportingOverflow(parts.isNegative ? -amount : amount)
    if overflow { return false }
    units = sum
    return true
  }

  /// Adds that many units of two to the power of an exponent that is not below that of any double.
  package mutating func add(_ amount: Int128, exponent amountExponent: Int) {
    if amount == 0 { return }
    if wide == nil, units == 0 {
      (units, exponent) = (amount, amountExponent)
      return
    }
    if wide == nil, let (own, other) = aligned(amount, amountExponent) {
      let (sum, overflow) = own.addingReportingOverflow(other)
      if !overflow {
        (units, exponent) = (sum, min(exponent, amountExponent))
        return
      }
    }
    if wide == nil { widen() }
    wide?.add(amount, exponent: amountExponent)
  }

  /// The units and an amount in the finer of their units; nil if one needs too many bits.
  private func aligned(_ amount: Int128, _ amountExponent: Int) -> (own: Int128, other: Int128)? {
    func shifted(_ number: Int128, by count: Int) -> Int128? {
      if count <= 0 { return number }
      return number.magnitude.leadingZeroBitCount > count ? number << Int128(count) : nil
    }
    guard let own = shifted(units, by: exponent - amountExponent),
      let other = shifted(amount, by: amountExponent - exponent)
    else { return nil }
    return (own, other)
  }

  @inline(never)
  private mutating func addSlowly(_ number: Double, isRemoved: Bool) {
    if number == 0 { return }
    if number.isInfinite {
      let change: Int32 = isRemoved ? -1 : 1
      if number > 0 { infinities.positive += change } else { infinities.negative += change }
      return
    }
    let signed = isRemoved ? -number : number
    if wide == nil {
      makeRoom(for: DoubleParts(signed))
      if take(signed) { return }
      widen()
    }
    wide?.add(signed)
  }

  /// Makes the units so small that the number is a multiple, if the sum still fits.
  private mutating func makeRoom(for parts: DoubleParts) {
    let least = max(parts.exponent - 8, DoubleParts.exponentMin)
    if units == 0 {
      exponent = least
    } else if least < exponent, units.magnitude.leadingZeroBitCount > exponent - least + 1 {
      units <<= Int128(exponent - least)
      exponent = least
    }
  }

  private mutating func widen() {
    var made = WideSum()
    if units != 0 { made.add(units, exponent: exponent) }
    wide = made
    units = 0
    exponent = Self.unplaced
  }

  /// The nearest double; infinite if the sum is too large for one.
  package var value: Double {
    if let infinite { return infinite }
    if let wide { return wide.divided(by: 1) }
    if units == 0 { return 0 }
    return .nearest(to: units.magnitude, exponent: exponent, isNegative: units < 0)
  }

  /// The double that is nearest to the exact sum divided by a number above zero.
  package func divided(by divisor: Int) -> Double {
    if divisor == 1 { return value }
    if let infinite { return infinite }
    if let wide { return wide.divided(by: divisor) }
    if units == 0 { return 0 }
    // Fills the 128 bits, but needs none below half of the least double.
    let room = min(units.magnitude.leadingZeroBitCount, exponent - DoubleParts.exponentMin + 1)
    let (quotient, rest) = (units.magnitude << UInt128(room)).quotientAndRemainder(
      dividingBy: UInt128(divisor))
    // Divided by two at least, it leaves room for a bit that represents the rest.
    return .nearest(
      to: quotient << 1 | (rest == 0 ? 0 : 1), exponent: exponent - room - 1,
      isNegative: units < 0)
  }

  /// The sum if it is infinite or not a number; nil if it is finite.
  private var infinite: Double? {
    if infinities.positive > 0 { return infinities.negative > 0 ? .nan : .infinity }
    return infinities.negative > 0 ? -.infinity : nil
  }
}

/// The parts of a finite double: the significand times two to the power of the exponent.
private struct DoubleParts {
  /// The exponent of the smallest number: every double is a multiple of two to that power.
  static let exponentMin = -1074

  let significand: UInt64
  let exponent: Int
  let isNegative: Bool
  /// False for 0, subnormal numbers, and numbers that are not finite.
  let isNormal: Bool

  @inline(__always)
  init(_ number: Double) {
    let bits = number.bitPattern
    let biased = Int(truncatingIfNeeded: bits >> 52 & 0x7ff)
    let fraction = bits & (1 << 52 - 1)
    isNormal = biased != 0 && biased != 0x7ff
    significand = biased == 0 ? fraction : fraction | 1 << 52
    exponent = (biased == 0 ? 1 : biased) &- 1075
    isNegative = bits >> 63 == 1
  }
}

/// The same in as many bits as any sum of doubles needs: limbs of 32 bits, least significant first,
/// each with room for carries.
private struct WideSum: Sendable {
  private static let count = 70
  private static let mask: Int64 = 1 << 32 - 1
  private var limbs = ContiguousArray<Int64>(repeating: 0, count: count)
  /// The number of additions since the last carry.
  private var pending = 0

  mutating func add(_ number: Double) {
    let parts = DoubleParts(number)
    add(UInt128(parts.significand), exponent: parts.exponent, isNegative: parts.isNegative)
  }

  mutating func add(_ units: Int128, exponent: Int) {
    let magnitude = units.magnitude
    let half = UInt128(UInt64.max)
    add(magnitude & half, exponent: exponent, isNegative: units < 0)
    if magnitude >> 64 != 0 {
      add(magnitude >> 64, exponent: exponent + 64, isNegative: units < 0)
    }
  }

  /// Adds at most 64 bits.
  private mutating func add(_ bits: UInt128, exponent: Int, isNegative: Bool) {
    let place = exponent - DoubleParts.exponentMin
    var rest = bits << UInt128(place & 31)
    var limb = place >> 5
    while rest != 0 {
      let part = Int64(truncatingIfNeeded: rest) & Self.mask
      limbs[limb] += isNegative ? -part : part
      rest >>= 32
      limb += 1
    }
    pending += 1
    if pending == 1 << 30 { carry() }
  }

  /// Leaves 32 bits in each limb, the sign in the last one.
  private mutating func carry() {
    pending = 0
    for limb in 0..<Self.count - 1 {
      limbs[limb + 1] += limbs[limb] >> 32
      limbs[limb] &= Self.mask
    }
  }

  /// The double that is nearest to the sum divided by a number above zero.
  func divided(by divisor: Int) -> Double {
    var sum = self
    sum.carry()
    let isNegative = sum.limbs[Self.count - 1] < 0
    if isNegative {
      for limb in 0..<Self.count { sum.limbs[limb] = -sum.limbs[limb] }
      sum.carry()
    }
    // The highest limb first, and one more than doubles have bits for.
    var digits: ContiguousArray<UInt64> = []
    var rest: UInt128 = 0
    for limb in sum.limbs.reversed() + [0] {
      let (digit, left) = (rest << 32 | UInt128(UInt64(bitPattern: limb))).quotientAndRemainder(
        dividingBy: UInt128(divisor))
      digits.append(UInt64(digit))
      rest = left
    }
    guard let top = digits.firstIndex(where: { $0 != 0 }) else { return 0 }
    // The three highest limbs have more bits than a double. The lower ones decide ties only.
    let last = min(top + 2, Self.count)
    let magnitude = digits[top...last].reduce(0 as UInt128) { $0 << 32 | UInt128($1) }
    let hasRest = rest != 0 || digits[(last + 1)...].contains { $0 != 0 }
    return .nearest(
      to: magnitude << 1 | (hasRest ? 1 : 0),
      exponent: 32 * (Self.count - 1 - last) + DoubleParts.exponentMin - 1, isNegative: isNegative)
  }
}

extension Double {
  /// The double nearest to a number of units of two to the power of `exponent`, to even on ties.
  fileprivate static func nearest(
    to units: UInt128, exponent: Int, isNegative: Bool
  ) -> Double {
    let surplus = max(
      0, 128 - units.leadingZeroBitCount - 53, DoubleParts.exponentMin - exponent)
    var significand = units >> UInt128(surplus)
    if surplus > 0 {
      let rest = units & (1 << UInt128(surplus) - 1)
      let half: UInt128 = 1 << UInt128(surplus - 1)
      if rest > half || rest == half && significand & 1 == 1 { significand += 1 }
    }
    return Double(
      sign: isNegative ? .minus : .plus, exponent: exponent + surplus,
      significand: Double(UInt64(significand)))
  }
}
