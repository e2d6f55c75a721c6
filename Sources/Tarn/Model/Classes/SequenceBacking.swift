import TarnStore

/// The storage of a list's, a set's or a map's elements: the program's memory while it is
/// unmanaged, the rows of a Realm once it is managed.
///
/// All three are one thing, a sequence: a list in the program's order, a set in the order of the
/// values, a map in the order of the keys' UTF-8. Positions are in bounds: the collections check
/// them, to name themselves in the trap.
protocol SequenceBacking: AnyObject {
  /// The instance that the sequence belongs to, nil while it is unmanaged.
  var ownInstance: Instance? { get }
  /// True if the object that the sequence belongs to was deleted or its Realm invalidated.
  var isInvalidated: Bool { get }
  /// True if both are the same collection of one instance, or unmanaged and equal.
  func isEqual(to other: any SequenceBacking) -> Bool

  /// Its name in messages.
  var title: String { get }
  /// Whether it is a list, a set or a map.
  var kind: CollectionKind { get }
  var count: Int { get }
  func element(at index: Int) -> _BoxedValue
  /// All current elements, whatever happens to the sequence afterwards.
  var snapshot: SequenceSnapshot { get }
  /// The same for a large sequence of numbers in stored form, page by page; nil for all others.
  var numberPages: NumberPages? { get }
  /// Maps: the key at a position.
  func key(at index: Int) -> String
  /// The first position of a value.
  func index(of value: _BoxedValue) -> Int?
  /// Maps: the position of a key, or where it would be.
  func find(_ key: String) -> (index: Int, isFound: Bool)

  // Lists.
  func insert(_ value: _BoxedValue, at index: Int)
  func replace(_ range: Range<Int>, with values: [_BoxedValue])
  func set(_ value: _BoxedValue, at index: Int)
  func move(from: Int, to: Int)
  func swap(_ first: Int, _ second: Int)
  // Sets.
  func insert(_ value: _BoxedValue)
  func remove(_ value: _BoxedValue)
  // Maps.
  func set(_ value: _BoxedValue, for key: String)
  func removeValue(for key: String)
  // All.
  func removeAll()
  /// Replaces all elements; for a map the values, with their keys.
  func put(_ values: [_BoxedValue], keys: [String])
}

/// A backing in transit through public code.
public struct _SequenceHandle {
  var backing: any SequenceBacking

  init(_ backing: any SequenceBacking) { self.backing = backing }
}

extension SequenceBacking {
  /// All current elements.
  var all: [_BoxedValue] {
    let snapshot = snapshot
    return (0..<snapshot.count).map { snapshot[$0] }
  }
  var allKeys: [String] { (0..<count).map { key(at: $0) } }

  /// True if both are the same collection, or one is unmanaged and their elements are equal.
  func equals(_ other: any SequenceBacking) -> Bool {
    guard (ownInstance == nil) != (other.ownInstance == nil) else { return isEqual(to: other) }
    guard kind == other.kind, !isInvalidated, !other.isInvalidated, count == other.count else {
      return false
    }
    // An unmanaged set of objects has its own order.
    if kind == .set, ownInstance == nil { return other.equals(self) }
    if kind == .set { return other.all.allSatisfy { index(of: $0) != nil } }
    if kind == .map, !allKeys.haveSameBytes(as: other.allKeys) { return false }
    return zip(all, other.all).allSatisfy { $0.isSameElement(as: $1) }
  }

  /// Copies the elements of another sequence of the same kind.
  func assign(_ other: any SequenceBacking) {
    if isEqual(to: other) { return }
    put(other.all, keys: other.kind == .map ? other.allKeys : [])
  }
}

/// The elements of a sequence at a moment. Objects are made when they are read.
enum SequenceSnapshot {
  case boxed([_BoxedValue])
  case stored([Value], of: any StoredElements)

  var count: Int {
    switch self {
    case .boxed(let values): values.count
    case .stored(let values, _): values.count
    }
  }

  /// The name of the sequence in messages.
  var title: String {
    switch self {
    case .boxed: "a collection"
    case .stored(_, let sequence): sequence.title
    }
  }

  subscript(index: Int) -> _BoxedValue {
    switch self {
    case .boxed(let values): values[index]
    case .stored(let values, let sequence): sequence.boxed(values[index])
    }
  }
}

/// Converts stored elements of a sequence to the program's types.
protocol StoredElements: AnyObject {
  var title: String { get }
  func boxed(_ value: Value) -> _BoxedValue
}

extension _BoxedValue {
  /// True for the same object, for values that are the same element, and for lists and maps within
  /// values that have the same elements.
  func isSameElement(as other: _BoxedValue) -> Bool {
    if let first = object {
      guard let second = other.object else { return false }
      return first === second || first._isSameRow(as: second)
    }
    if let first = nested {
      guard let second = other.nested else { return false }
      return first.kind == second.kind && first.equals(second)
    }
    return other.object == nil && other.nested == nil && value.isSameElement(as: other.value)
  }
}

/// The order of values in sets and of keys in maps: their order in the file.
enum ElementOrder {
  static func precedes(_ a: Value, _ b: Value) -> Bool { SequenceOrder.compare(a, b) < 0 }
  static func precedes(_ a: String, _ b: String) -> Bool { SequenceOrder.compare(a, b) < 0 }
}
