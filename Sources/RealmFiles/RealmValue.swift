/// A value of a Realm file.
package enum RealmValue: Equatable, Sendable {
  case null
  case int(Int64)
  case bool(Bool)
  case float(Float)
  case double(Double)
  case string(String)
  case binary([UInt8])
  /// Seconds and nanoseconds after 1970, both with the same sign.
  case date(seconds: Int64, nanoseconds: Int32)
  case decimal(RealmDecimal)
  /// Twelve bytes, most significant first.
  case objectID(high: UInt64, low: UInt32)
  /// Sixteen bytes, most significant first.
  case uuid(high: UInt64, low: UInt64)
  /// An object: the position of its table in the file, and its key there.
  case link(table: Int, key: Int64)
  /// The elements of a list or of a set. A set's have no order that matters.
  case list([RealmValue])
  case dictionary([RealmEntry])
}

/// A pair of a dictionary.
package struct RealmEntry: Equatable, Sendable {
  package var key: String
  package var value: RealmValue
}

/// An IEEE 754-2008 decimal128 in the binary integer encoding.
package struct RealmDecimal: Equatable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A number with a coefficient below 2⁶⁴.
  init(isNegative: Bool, coefficient: UInt64, exponent: Int) {
    high = (isNegative ? 1 << 63 : 0) | UInt64(exponent + 6176) << 49
    low = coefficient
  }

  /// The value that a file stores in place of null.
  static let null = RealmDecimal(high: 0x7c00_0000_0000_0000, low: 0xaa)

  /// The same value; an encoding that is not allowed counts as zero.
  var canonical: RealmDecimal {
    let sign = high & 1 << 63
    if high >> 59 & 15 == 15 { return self }
    if high >> 61 & 3 == 3 { return RealmDecimal(high: sign, low: 0) }
    // The largest coefficient has 34 nines.
    let coefficient = high & (1 << 49 - 1)
    let isTooLarge =
      (coefficient, low) > (0x1_ed09_bead_87c0, 0x378d_8e63_ffff_ffff as UInt64)
    return isTooLarge ? RealmDecimal(high: high & ~(1 << 49 - 1), low: 0) : self
  }
}
