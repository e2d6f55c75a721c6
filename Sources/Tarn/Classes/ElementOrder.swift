import TarnStore

/// The order of values in sets and of keys in maps: that in which they are stored.
enum ElementOrder {
  static func precedes(_ a: Value, _ b: Value) -> Bool { SequenceOrder.compare(a, b) < 0 }
  static func precedes(_ a: String, _ b: String) -> Bool { SequenceOrder.compare(a, b) < 0 }

  /// True for the same object, for values that are the same element, and for lists and maps within
  /// values that have the same elements.
  static func areEqual(_ a: _BoxedValue, _ b: _BoxedValue) -> Bool {
    if let first = a.object {
      guard let second = b.object else { return false }
      return first === second || first._isSameRow(as: second)
    }
    if let first = a.nested {
      guard let second = b.nested else { return false }
      return first.kind == second.kind && first.equals(second)
    }
    return b.object == nil && b.nested == nil && a.value.isSameElement(as: b.value)
  }
}
