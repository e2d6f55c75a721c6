import Synchronization

/// Numbers that never repeat in this process.
enum Generation {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
