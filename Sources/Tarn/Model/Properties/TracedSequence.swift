import TarnStore

/// The content of a traced object's collection: one element, at every position and under every key.
/// It never changes.
final class TracedSequence: SequenceBacking {
  let kind: CollectionKind
  let count: Int
  private let element: _BoxedValue

  init(_ kind: CollectionKind, of element: _BoxedValue, count: Int) {
    self.kind = kind
    self.count = count
    self.element = element
  }

  var ownInstance: Instance? { nil }
  var isInvalidated: Bool { false }
  var title: String { "a \(kind) reached through a key path" }
  func isEqual(to other: any SequenceBacking) -> Bool { other === self }

  func element(at index: Int) -> _BoxedValue { element }
  var snapshot: SequenceSnapshot { .boxed([element]) }
  var numberPages: NumberPages? { nil }
  func key(at index: Int) -> String { "" }
  func index(of value: _BoxedValue) -> Int? {
    value.object === element.object && value.value == element.value ? 0 : nil
  }
  func find(_ key: String) -> (index: Int, isFound: Bool) { (0, true) }

  func insert(_ value: _BoxedValue, at index: Int) {}
  func replace(_ range: Range<Int>, with values: [_BoxedValue]) {}
  func set(_ value: _BoxedValue, at index: Int) {}
  func move(from: Int, to: Int) {}
  func swap(_ first: Int, _ second: Int) {}
  func insert(_ value: _BoxedValue) {}
  func remove(_ value: _BoxedValue) {}
  func set(_ value: _BoxedValue, for key: String) {}
  func removeValue(for key: String) {}
  func removeAll() {}
  func put(_ values: [_BoxedValue], keys: [String]) {}
}
