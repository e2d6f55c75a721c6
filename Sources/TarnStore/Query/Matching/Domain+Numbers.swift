// Comparisons of numbers with a constant of any numeric type, as domains.

extension Domain<Int64> {
  /// The integers for which the comparison with a number is true; nil for none. NaN is unequal to
  /// all.
  init?(_ op: ComparisonOperator, number: NumericConstant) {
    switch number {
    case .int(let constant): self.init(op, constant)
    case .double(let constant): self.init(op, constant)
    case .decimal(let constant): self.init(op, constant)
    }
  }

  private init?(_ op: ComparisonOperator, _ constant: Double) {
    if constant >= -0x1p63, constant < 0x1p63, constant == Double(Int64(constant)) {
      self.init(op, Int64(constant))
      return
    }
    switch op {
    case .less, .lessOrEqual:
      guard constant >= -0x1p63 else { return nil }
      self = .range(.min, constant >= 0x1p63 ? .max : Self.floor(constant))
    case .greater, .greaterOrEqual:
      guard constant < 0x1p63 else { return nil }
      // Not an integer: the next integer above it is the floor plus one.
      self = .range(constant < -0x1p63 ? .min : Self.floor(constant) + 1, .max)
    default: return nil
    }
  }

  private init?(_ op: ComparisonOperator, _ constant: DecimalNumber) {
    if constant.isNaN { return nil }
    let (floor, isExact) = constant.floor
    switch op {
    case _ where isExact: self.init(op, floor)
    // Out of range, the floor is the smallest or the largest integer.
    case .less, .lessOrEqual:
      guard constant.order > DecimalNumber(.min).order else { return nil }
      self = .range(.min, floor)
    case .greater, .greaterOrEqual:
      guard constant.order < DecimalNumber(.max).order else { return nil }
      self = .range(constant.order < DecimalNumber(.min).order ? .min : floor + 1, .max)
    default: return nil
    }
  }

  /// The largest integer below a number that is in range and not an integer.
  private static func floor(_ value: Double) -> Int64 {
    let whole = Int64(value)
    return value < 0 ? whole - 1 : whole
  }
}

extension NumericConstant {
  /// The constant that a float column is compared with: the float nearest to the number, as if the
  /// program had given a float. A number beyond all floats, or nearer to zero, is not changed.
  var asFloat: NumericConstant {
    let float: Float
    switch self {
    case .int(let value): float = Float(value)
    case .double(let value): float = Float(value)
    case .decimal(let value): float = Float(value.nearestDouble)
    }
    return float.isFinite && float != 0 ? .double(Double(float)) : self
  }
}

extension Domain<Double> {
  /// The doubles for which the comparison with a number other than NaN is true; nil for none. A
  /// decimal is converted to the nearest double: a literal with more digits than a double is a
  /// double there.
  init?(_ op: ComparisonOperator, number: NumericConstant) {
    switch number {
    case .int(let constant): self.init(op, constant)
    case .double(let constant): self.init(op, constant)
    case .decimal(let constant): self.init(op, constant.nearestDouble)
    }
  }

  private init?(_ op: ComparisonOperator, _ constant: Int64) {
    // The nearest double may be on either side of the integer.
    let nearest = Double(constant)
    let side = compareExactly(constant, nearest)
    switch op {
    case _ where side == 0: self.init(op, nearest)
    case .less, .lessOrEqual: self = .range(.least, side > 0 ? nearest : nearest.nextDown)
    case .greater, .greaterOrEqual:
      self = .range(side < 0 ? nearest : nearest.nextUp, .greatest)
    default: return nil
    }
  }

  /// The floats among these doubles; nil without any.
  var floats: Domain<Float>? {
    switch self {
    case .set(let values): return Domain<Float>(values.compactMap { Float(exactly: $0) })
    case .range(let low, let high):
      var least = Float(low)
      if Double(least) < low { least = least.nextUp }
      var greatest = Float(high)
      if Double(greatest) > high { greatest = greatest.nextDown }
      return least <= greatest ? .range(least, greatest) : nil
    }
  }
}

extension Domain<DecimalOrder> {
  /// The decimals for which the comparison with a number other than NaN is true; nil for none. A
  /// double is converted to the decimal that it prints as: the literal 0.1 is a tenth for a
  /// decimal.
  init?(_ op: ComparisonOperator, number: NumericConstant) {
    switch number {
    case .int(let constant): self.init(op, DecimalNumber(constant).order)
    case .double(let constant): self.init(op, DecimalNumber(shortest: constant).order)
    case .decimal(let constant): self.init(op, constant.order)
    }
  }
}
