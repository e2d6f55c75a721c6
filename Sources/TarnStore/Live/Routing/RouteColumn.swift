/// Values of a column under which a source is filed, or a wider set of them.
enum RouteValue: Sendable {
  /// The value whose order key has that hash. Another value with the same hash only leads to a
  /// source in vain.
  case point(UInt64)
  /// The values whose order keys begin with that many bytes of that hash.
  case prefix(UInt64, length: Int)
  /// The values between two, by the first bytes of their order keys.
  case range(IntervalTree.Bound, IntervalTree.Bound)

  init(_ range: PackedIndexRange) {
    if let lower = range.lower, let upper = range.upper, !lower.isAfter {
      if upper.isAfter, lower.key == upper.key {
        self = .point(RouteHash(lower.key).value)
        return
      }
      if !upper.isAfter, lower.key.holdsValue, lower.key.afterPrefixed == upper.key {
        self = .prefix(RouteHash(lower.key).value, length: lower.key.byteCount)
        return
      }
    }
    self = .range(range.lower?.key.firstBytes ?? .min, range.upper?.key.firstBytes ?? .max)
  }

  /// One range of all of these.
  static func hull(of ranges: [PackedIndexRange]) -> RouteValue {
    let lower = ranges.map { $0.lower?.key.firstBytes ?? .min }
    let upper = ranges.map { $0.upper?.key.firstBytes ?? .max }
    return .range(lower.min() ?? .min, upper.max() ?? .max)
  }
}

/// The sources filed under values at one place, by number.
final class RouteColumn {
  let place: RoutePlace
  private var points: [UInt64: [Int]] = [:]
  /// By the number of bytes.
  private var prefixes: [Int: [UInt64: [Int]]] = [:]
  private let ranges = IntervalTree()
  /// How many parts of routes are filed here.
  private var count = 0

  init(_ place: RoutePlace) { self.place = place }

  var isEmpty: Bool { count == 0 }

  // MARK: - Filing

  func insert(_ value: RouteValue, _ number: Int) {
    count += 1
    switch value {
    case .point(let hash): points[hash, default: []].file(number)
    case .prefix(let hash, let length):
      prefixes[length, default: [:]][hash, default: []].file(number)
    case .range(let low, let high): ranges.insert(low, high, number)
    }
  }

  func remove(_ value: RouteValue, _ number: Int) {
    count -= 1
    switch value {
    case .point(let hash): Self.unfile(number, at: hash, in: &points)
    case .prefix(let hash, let length):
      Self.unfile(number, at: hash, in: &prefixes[length]!)
      if prefixes[length]?.isEmpty == true { prefixes[length] = nil }
    case .range(let low, let high): ranges.remove(low, high, number)
    }
  }

  private static func unfile(_ number: Int, at hash: UInt64, in table: inout [UInt64: [Int]]) {
    table[hash]?.unfile(number)
    if table[hash]?.isEmpty == true { table[hash] = nil }
  }

  /// The number of sources filed at a value already; 0 for a range.
  func crowd(at value: RouteValue) -> Int {
    switch value {
    case .point(let hash): points[hash]?.count ?? 0
    case .prefix(let hash, let length): prefixes[length]?[hash]?.count ?? 0
    case .range: 0
    }
  }

  // MARK: - Finding

  /// Calls `body` with the numbers filed under values with that key.
  func forEach(at key: OrderKey, _ body: ([Int]) -> Void) {
    var hash = RouteHash()
    unsafe key.withBytes { bytes in
      for index in 0..<bytes.count {
        unsafe hash.append(bytes[index])
        guard !prefixes.isEmpty, let there = prefixes[index + 1] else { continue }
        if let numbers = there[hash.value] { body(numbers) }
      }
    }
    if let numbers = points[hash.value] { body(numbers) }
    if !ranges.isEmpty { ranges.forEach(containing: key.firstBytes, body) }
  }
}

/// A hash of bytes that is known for each beginning of them (FNV-1a).
struct RouteHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  init() {}

  init(_ key: OrderKey) {
    var hash = RouteHash()
    unsafe key.withBytes { bytes in
      for index in 0..<bytes.count { unsafe hash.append(bytes[index]) }
    }
    self = hash
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }
}

extension OrderKey {
  /// The first sixteen bytes as a number, whose order does not contradict that of the keys.
  fileprivate var firstBytes: UInt128 {
    var number: UInt128 = 0
    unsafe withBytes { bytes in
      for index in 0..<min(16, bytes.count) {
        unsafe number |= UInt128(bytes[index]) << UInt128(8 * (15 - index))
      }
    }
    return number
  }
}
