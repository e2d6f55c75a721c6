/// Tests as ranges of an index.
extension ScalarPredicate {
  /// The entries whose values pass; nil if they are not ranges of the index's order.
  ///
  /// - Returns: disjoint ranges, and whether every entry in them passes.
  func indexRanges(_ column: ColumnSchema) -> (ranges: [PackedIndexRange], isExact: Bool)? {
    indexRanges(column.type, filesAll: column.filesAll)
  }

  /// Disjoint ranges that contain the order keys of all values that pass; nil if there are none.
  func valueRanges(_ type: ColumnType) -> [PackedIndexRange]? {
    indexRanges(type, filesAll: true)?.ranges
  }

  /// - Parameter filesAll: whether null and mixed values that are not objects have entries.
  private func indexRanges(
    _ type: ColumnType, filesAll: Bool
  ) -> (ranges: [PackedIndexRange], isExact: Bool)? {
    switch self {
    case .isNull: filesAll ? ([.equal(.null)], true) : nil
    case .ofType(let tests): Self.indexRanges(tests, filesAll: filesAll)
    default: indexRanges(type)
    }
  }

  /// Mixed values are ordered by type. Objects have entries in an index over objects only, and also
  /// for collections that contain them.
  private static func indexRanges(
    _ tests: [ColumnType: ScalarPredicate], filesAll: Bool
  ) -> (ranges: [PackedIndexRange], isExact: Bool)? {
    var (all, isExact): ([PackedIndexRange], Bool) = ([], true)
    for (type, test) in tests {
      if case .object(let targets) = test {
        all += targets.map { .equal(OrderKey($0)) }
        isExact = false
        continue
      }
      guard filesAll, let found = test.indexRanges(type) else { return nil }
      // Different strings may have the same truncated key.
      for range in found.ranges.map({ $0.within(type) }) where all.last?.lower != range.lower {
        all.append(range)
      }
      isExact = isExact && found.isExact && !all.contains(where: \.isWider)
    }
    return (all, isExact)
  }

  private func indexRanges(_ type: ColumnType) -> (ranges: [PackedIndexRange], isExact: Bool)? {
    switch self {
    case .isNaN: return nan(type).map { ([.equal($0)], true) }
    case .int(let domain): return (domain.indexRanges { OrderKey($0) }, true)
    case .bool(let value): return ([.equal(OrderKey(value))], true)
    case .double(let domain): return (domain.indexRanges { OrderKey(double: $0) }, true)
    case .float(let domain): return (domain.indexRanges { OrderKey(float: $0) }, true)
    case .decimal(let domain): return (domain.indexRanges { OrderKey($0) }, true)
    case .date(let domain): return (domain.indexRanges { OrderKey($0) }, true)
    case .bytes12(let domain): return (domain.indexRanges { OrderKey($0) }, true)
    case .bytes16(let domain): return (domain.indexRanges { OrderKey($0) }, true)
    case .text(let pattern):
      guard let ranges = pattern.indexRanges(type) else { return nil }
      let isExact = pattern.op != .like && !ranges.contains(where: \.isWider)
      return (ranges, isExact)
    case .isNull, .ofType, .object: return nil
    }
  }

  private func nan(_ type: ColumnType) -> OrderKey? {
    switch type {
    case .double: OrderKey(double: .nan)
    case .float: OrderKey(float: .nan)
    case .decimal: OrderKey(DecimalOrder.nan)
    default: nil
    }
  }
}

extension Domain {
  fileprivate func indexRanges(_ key: (T) -> OrderKey) -> [PackedIndexRange] {
    switch self {
    case .range(let low, let high): [PackedIndexRange(from: key(low), through: key(high))]
    case .set(let values): values.map { .equal(key($0)) }
    }
  }
}

extension TextPattern {
  /// Nil for patterns that match strings all over the index.
  fileprivate func indexRanges(_ type: ColumnType) -> [PackedIndexRange]? {
    if !options.isEmpty { return nil }
    // Null precedes every string, but not data.
    let above = type == .string ? nil : OrderKey.null
    switch op {
    case .equal: return [.equal(Self.key(needle))]
    case .less: return [PackedIndexRange(above: above, below: Self.key(needle))]
    case .lessOrEqual: return [PackedIndexRange(above: above, through: Self.key(needle))]
    case .greater: return [PackedIndexRange(above: Self.key(needle))]
    case .greaterOrEqual: return [PackedIndexRange(from: Self.key(needle))]
    case .beginsWith: return [Self.prefix(needle)]
    case .like:
      let prefix = Self.literalPrefix(ofPattern: needle)
      return prefix.isEmpty ? nil : [Self.prefix(prefix)]
    case .in:
      // Long strings may have the same truncated key.
      var keys: [OrderKey] = []
      for needle in needles where keys.last != Self.key(needle) { keys.append(Self.key(needle)) }
      return keys.map { .equal($0) }
    case .contains, .endsWith, .notEqual: return nil
    }
  }

  private static func key(_ bytes: [UInt8]) -> OrderKey {
    unsafe bytes.withUnsafeBytes { unsafe OrderKey(bytes: $0) }
  }

  private static func prefix(_ bytes: [UInt8]) -> PackedIndexRange {
    unsafe bytes.withUnsafeBytes { unsafe PackedIndexRange.prefix($0) }
  }
}

extension ColumnPredicate {
  /// The only value that passes; nil if there are more or none.
  var onlyValue: Value? {
    switch test {
    case .int(.range(let low, let high)) where low == high:
      path.type == .link ? .link(ObjectKey(low)) : .int(low)
    case .bool(let value): .bool(value)
    case .date(.range(let low, let high)) where low == high: .date(low)
    case .bytes12(.range(let low, let high)) where low == high: .objectID(low)
    case .bytes16(.range(let low, let high)) where low == high: .uuid(low)
    case .text(let pattern) where pattern.op == .equal && pattern.options.isEmpty:
      path.type == .data
        ? .data(pattern.needle) : .string(String(decoding: pattern.needle, as: UTF8.self))
    default: nil
    }
  }
}
