import Foundation
import TarnStore

/// The elements of an unmanaged collection.
final class UnmanagedSequence: SequenceBacking {
  let kind: CollectionKind
  private var values: [_BoxedValue] = []
  /// Maps: ascending, as many as values.
  private var keys: [String] = []
  /// Sets of objects: the members; the values have them in insertion order. Lists and maps: all
  /// embedded objects that were ever members, so that a new one is not searched for.
  private var objects: Set<ObjectIdentifier> = []

  /// The observed properties that contain the sequence, directly or not, each with the number of
  /// places where it is.
  private var observed: [UnmanagedProperty: Int] = [:]
  /// True for the collection that is the property's value itself, whose observers receive
  /// positions.
  private var isProperty = false

  init(_ kind: CollectionKind) { self.kind = kind }

  var ownInstance: Instance? { nil }
  var isInvalidated: Bool { false }
  var title: String { "an unmanaged \(kind)" }

  func isEqual(to other: any SequenceBacking) -> Bool {
    if other === self { return true }
    guard let other = other as? UnmanagedSequence, other.count == count,
      other.keys.haveSameBytes(as: keys)
    else { return false }
    if kind == .set, !objects.isEmpty { return objects == other.objects }
    return zip(values, other.values).allSatisfy { $0.isSameElement(as: $1) }
  }

  // MARK: - Reading

  var count: Int { values.count }
  func element(at index: Int) -> _BoxedValue { values[index] }
  var snapshot: SequenceSnapshot { .boxed(values) }
  var numberPages: NumberPages? { nil }
  func key(at index: Int) -> String { keys[index] }

  func index(of value: _BoxedValue) -> Int? {
    if kind == .set, value.object == nil {
      let found = find(value)
      return found.isFound ? found.index : nil
    }
    return values.firstIndex { $0.isSameElement(as: value) }
  }

  func find(_ key: String) -> (index: Int, isFound: Bool) {
    let index = keys.partitioningIndex { !ElementOrder.precedes($0, key) }
    return (index, index < keys.count && !ElementOrder.precedes(key, keys[index]))
  }

  private func find(_ value: _BoxedValue) -> (index: Int, isFound: Bool) {
    let index = values.partitioningIndex { !ElementOrder.precedes($0.value, value.value) }
    return (
      index, index < values.count && !ElementOrder.precedes(value.value, values[index].value)
    )
  }

  // MARK: - Lists

  func insert(_ value: _BoxedValue, at index: Int) { replace(index..<index, with: [value]) }
  func set(_ value: _BoxedValue, at index: Int) { replace(index..<index + 1, with: [value]) }

  /// Makes a change and notifies the observers of the property.
  private func changing(_ kind: @autoclosure () -> PropertyEffect.Kind, _ change: () -> Void) {
    if observed.isEmpty { return change() }
    let kind = self.kind == .list && isProperty ? kind() : .setting
    if kind.isOfNothing { return change() }
    let tellings = observed.keys.map { $0.begin(kind) }
    change()
    for telling in tellings { telling.finish() }
  }

  // MARK: - Observers

  func note(_ property: UnmanagedProperty, isOwn: Bool) {
    if isOwn { isProperty = true }
    observed[property, default: 0] += 1
    if observed[property] == 1 { exchange([], values, in: [property]) }
  }

  func forgetObservers(_ property: UnmanagedProperty) {
    guard let count = observed[property] else { return }
    observed[property] = count == 1 ? nil : count - 1
    if count == 1 { exchange(values, [], in: [property]) }
  }

  /// Lists and maps among the removed elements no longer belong to the observed properties, and
  /// those among the inserted elements do.
  private func exchange(
    _ leaving: some Sequence<_BoxedValue>, _ coming: some Sequence<_BoxedValue>,
    in properties: [UnmanagedProperty]
  ) {
    for property in properties {
      for case let nested as UnmanagedSequence in leaving.lazy.compactMap(\.nested) {
        nested.forgetObservers(property)
      }
      for case let nested as UnmanagedSequence in coming.lazy.compactMap(\.nested) {
        nested.note(property, isOwn: false)
      }
    }
  }

  private func exchange(
    _ leaving: some Sequence<_BoxedValue>, _ coming: some Sequence<_BoxedValue>
  ) {
    if !observed.isEmpty { exchange(leaving, coming, in: Array(observed.keys)) }
  }

  /// Embedded objects are removed from their former positions, as in a managed list.
  func replace(_ range: Range<Int>, with new: [_BoxedValue]) {
    let leaving = positions(of: new).filter { !range.contains($0) }
    changing(leaving.isEmpty ? .replacing(range, new.count) : .setting) {
      replace(range, with: new, leaving)
    }
  }

  private func replace(_ range: Range<Int>, with new: [_BoxedValue], _ leaving: [Int]) {
    exchange(values[range], new)
    values.replaceSubrange(range, with: new)
    for position in leaving.reversed() {
      values.remove(at: position < range.lowerBound ? position : position + new.count - range.count)
    }
  }

  /// The ascending positions of the embedded objects among elements to be inserted. Traps for one
  /// that is inserted twice.
  private func positions(of new: [_BoxedValue]) -> [Int] {
    var mayBeHere: [ObjectBase] = []
    var coming: Set<ObjectIdentifier> = []
    for object in new.lazy.compactMap(\.object) {
      guard object is EmbeddedObject else { return [] }
      require(
        coming.insert(ObjectIdentifier(object)).inserted,
        "An object of the embedded class '\(object._className)' would be in two positions of a "
          + "\(kind) at once. An embedded object has one position: make another object for the "
          + "second one.")
      // Only managed objects can be one row.
      let isKnown = !objects.insert(ObjectIdentifier(object)).inserted
      if unsafe isKnown || object._context != nil { mayBeHere.append(object) }
    }
    if mayBeHere.isEmpty { return [] }
    let rows = mayBeHere.filter { unsafe $0._context != nil }
    return values.indices.filter { index in
      guard let object = values[index].object else { return false }
      return coming.contains(ObjectIdentifier(object))
        || rows.contains { $0._isSameRow(as: object) }
    }
  }

  func move(from: Int, to: Int) {
    changing(.replacement(IndexSet(min(from, to)...max(from, to)))) {
      values.insert(values.remove(at: from), at: to)
    }
  }

  func swap(_ first: Int, _ second: Int) {
    changing(.replacement([first, second])) { values.swapAt(first, second) }
  }

  // MARK: - Sets

  func insert(_ value: _BoxedValue) { changing(.setting) { add(value) } }

  private func add(_ value: _BoxedValue) {
    require(
      value.nested == nil,
      "Lists and maps cannot be in a set, because they cannot be compared. Use a list.")
    if let object = value.object {
      // Only managed objects can be one row.
      let isKnown = unsafe object._context != nil && index(of: value) != nil
      guard !isKnown, objects.insert(ObjectIdentifier(object)).inserted else { return }
      return values.append(value)
    }
    let found = find(value)
    if !found.isFound { values.insert(value, at: found.index) }
  }

  func remove(_ value: _BoxedValue) {
    guard let index = index(of: value) else { return }
    changing(.setting) {
      let removed = values.remove(at: index)
      if let object = removed.object { objects.remove(ObjectIdentifier(object)) }
    }
  }

  // MARK: - Maps

  func set(_ value: _BoxedValue, for key: String) { changing(.setting) { put(value, key) } }

  private func put(_ value: _BoxedValue, _ key: String) {
    let found = find(key)
    for position in positions(of: [value]) { values[position] = _BoxedValue(.null) }
    exchange(found.isFound ? [values[found.index]] : [], [value])
    if found.isFound {
      values[found.index] = value
    } else {
      keys.insert(key, at: found.index)
      values.insert(value, at: found.index)
    }
  }

  func removeValue(for key: String) {
    let found = find(key)
    guard found.isFound else { return }
    changing(.setting) {
      keys.remove(at: found.index)
      exchange([values.remove(at: found.index)], [])
    }
  }

  func removeAll() { changing(.replacing(0..<count, 0)) { clear() } }

  private func clear() {
    exchange(values, [])
    values = []
    keys = []
    objects = []
  }

  func put(_ values: [_BoxedValue], keys: [String]) {
    changing(.setting) { replaceAll(values, keys) }
  }

  private func replaceAll(_ values: [_BoxedValue], _ keys: [String]) {
    switch kind {
    case .list, .none:
      // Inserted objects are known from now on.
      _ = positions(of: values)
      replace(0..<count, with: values, [])
    case .set:
      clear()
      for value in values { add(value) }
    case .map:
      // Before an element moves to its second key.
      _ = positions(of: values)
      clear()
      for (key, value) in zip(keys, values) { put(value, key) }
    }
  }
}
