/// A sum of doubles that is never rounded while numbers are added and removed: it depends only on
/// the remaining numbers. `value` is the nearest double, to even on ties.
///
/// The numbers are added as multiples of a power of two, in 128 bits as long as they fit, which is
/// some 70 binary orders of magnitude; then in as many bits as any double needs. NaN must not be
/// added. Infinities are counted: with both there is no sum, which is NaN.
package struct ExactSum: Sendable {
  /// The sum, in units of two to the power of `exponent`, while there is no wider sum.
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
    if infinities.positive > 0 { return infinities.negative > 0 ? .nan : .infinity }
    if infinities.negative > 0 { return -.infinity }
    if let wide { return wide.value }
    if units == 0 { return 0 }
    return .nearest(to: units.magnitude, exponent: exponent, isNegative: units < 0)
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

  var value: Double {
    var sum = self
    sum.carry()
    let isNegative = sum.limbs[Self.count - 1] < 0
    if isNegative {
      for limb in 0..<Self.count { sum.limbs[limb] = -sum.limbs[limb] }
      sum.carry()
    }
    guard let top = sum.limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    // The three highest limbs have more bits than a double. Lower ones only decide ties.
    let lowest = max(top - 2, 0)
    var magnitude: UInt128 = 0
    for limb in (lowest...top).reversed() {
      magnitude = magnitude << 32 | UInt128(UInt64(bitPattern: sum.limbs[limb]))
    }
    var exponent = 32 * lowest + DoubleParts.exponentMin
    if lowest > 0 {
      let hasRest = sum.limbs[..<lowest].contains { $0 != 0 }
      magnitude = magnitude << 1 | (hasRest ? 1 : 0)
      exponent -= 1
    }
    return .nearest(to: magnitude, exponent: exponent, isNegative: isNegative)
  }
}

extension Double {
  /// The double nearest to a number of units of two to the power of `exponent`, to even on ties.
  /// The units are not finer than those of doubles.
  fileprivate static func nearest(
    to units: UInt128, exponent: Int, isNegative: Bool
  ) -> Double {
    let surplus = max(0, 128 - units.leadingZeroBitCount - 53)
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
