/// The same numbers for the same seed, on every machine (SplitMix64): a random test that fails
/// once fails every time.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to `bound`, without it; 0 if the bound is 0.
  package mutating func below(_ bound: Int) -> Int {
    bound == 0 ? 0 : Int(next() % UInt64(bound))
  }

  /// True that often in a hundred times.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  package mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}
