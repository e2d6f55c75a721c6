import TarnStore

/// The order of values in sets and of keys in maps: their order in the file.
enum ElementOrder {
  static func precedes(_ a: Value, _ b: Value) -> Bool { SequenceOrder.compare(a, b) < 0 }
  static func precedes(_ a: String, _ b: String) -> Bool { SequenceOrder.compare(a, b) < 0 }
}
