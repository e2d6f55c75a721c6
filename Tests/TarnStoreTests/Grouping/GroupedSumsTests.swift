import TestSupport
import Testing

@testable import TarnStore

/// Sums of many groups at once against exact sums of each.
@Suite struct GroupedSumsTests {
  /// What the values of a test are like.
  enum Kind: CaseIterable {
    /// Between 0 and 1, as random numbers are.
    case fractions
    /// Of the same size, both signs, some of them 0.
    case similar
    /// Of any size that a double can have.
    case anySize
    /// Similar ones, among which NaN and infinities are, and such as are too large or too fine.
    case outliers
    /// Larger by a factor of 2^40 with every tenth cluster.
    case growing
    case zeros
    case smallest
    case largest

    func value(_ numbers: inout SeededRandom, cluster: Int) -> Double {
      let fraction = Double(numbers.below(1 << 53)) * 0x1p-53
      let sign: Double = numbers.chance(50) ? 1 : -1
      switch self {
      case .fractions: return fraction
      case .similar: return numbers.chance(5) ? 0 : sign * (fraction + 0.25) * 1000
      case .anySize:
        return sign * (1 + fraction) * Self.power(numbers.below(2046) - 1022)
      case .outliers:
        if numbers.chance(90) { return sign * (1 + fraction) }
        let rare = [.nan, .infinity, -.infinity, 1e300, -1e15, 1e-20 / 3, -0.0, 0x1p-1060]
        return rare[numbers.below(rare.count)]
      case .growing: return sign * (1 + fraction) * Self.power(40 * (cluster / 10))
      case .zeros: return sign * 0
      case .smallest: return sign * Double(numbers.below(1000)) * .leastNonzeroMagnitude
      case .largest: return sign * fraction * .greatestFiniteMagnitude
      }
    }

    private static func power(_ exponent: Int) -> Double {
      Double(sign: .plus, exponent: exponent, significand: 1)
    }
  }

  @Test(arguments: Kind.allCases, [1, 7, 300])
  func `every group has its exact sum`(_ kind: Kind, groupCount: Int) {
    var numbers = SeededRandom(seed: UInt64(groupCount))
    var sums = GroupedSums()
    sums.makeRoom(for: groupCount)
    var expected = [ExactSum](repeating: ExactSum(), count: groupCount)
    var nans = [Int](repeating: 0, count: groupCount)
    var expectedNaNs = nans
    for cluster in 0..<60 {
      // Runs of rows, and rows here and there.
      let rowCount = numbers.below(300) + 1
      let density = [100, 97, 30][numbers.below(3)]
      var mask = [UInt64](repeating: 0, count: (rowCount + 63) / 64)
      var values: [Double] = []
      var groups: [Int32] = []
      for slot in 0..<rowCount {
        let value = kind.value(&numbers, cluster: cluster)
        let group = numbers.below(groupCount)
        values.append(value)
        groups.append(Int32(group))
        guard numbers.chance(density) else { continue }
        mask[slot >> 6] |= 1 << UInt64(slot & 63)
        if value.isNaN { expectedNaNs[group] += 1 } else { expected[group].add(value) }
      }
      var misfits = [UInt64](repeating: .max, count: mask.count)
      unsafe sums.add(values, rowCount, mask, groups, &misfits) { nans[$0] += 1 }
    }
    #expect(nans == expectedNaNs)
    for group in 0..<groupCount {
      var sum = sums.sum(of: group)
      expectSame(sum.value, expected[group].value)
      // What is added and taken out later finds the sum as exact.
      for change in [0.1, 1e9, 0x1p-70] {
        sum.add(change)
        expected[group].add(change)
      }
      expectSame(sum.value, expected[group].value)
    }
  }

  /// More rows than there can be before the sums of 64 bits are emptied.
  @Test func `many rows of one group`() {
    var sums = GroupedSums()
    sums.makeRoom(for: 1)
    let rowCount = 1024
    let values = [Double](repeating: 255.999, count: rowCount)
    let groups = [Int32](repeating: 0, count: rowCount)
    let mask = [UInt64](repeating: .max, count: rowCount / 64)
    var misfits = mask
    let clusters = 3 << 10
    for _ in 0..<clusters {
      unsafe sums.add(values, rowCount, mask, groups, &misfits) { _ in }
    }
    // A product of a double and a power of two is exact, so three of them are rounded once.
    #expect(sums.sum(of: 0).value == 3 * (255.999 * 0x1p20))
  }

  private func expectSame(_ a: Double, _ b: Double) {
    #expect(a == b || a.isNaN && b.isNaN)
  }
}
