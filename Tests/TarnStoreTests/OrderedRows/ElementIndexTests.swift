import TestSupport
import Testing

@testable import TarnStore

/// An index is brought over random edits, and knows then what going through the elements tells.
struct ElementIndexTests {
  /// Elements as a sequence has them, nil where one is no object.
  private final class Sequence: SequenceReading {
    let elements: [Int?]
    init(_ elements: [Int?]) { self.elements = elements }

    let shape = SequenceShape(.list, of: .link, isOptional: true)
    var count: Int { elements.count }
    var numberPages: NumberPages? { nil }
    func value(at index: Int) -> Value {
      elements[index].map { .link(ObjectKey(Int64($0))) } ?? .null
    }
    func key(at index: Int) -> String { "" }
    func find(_ value: Value) -> (index: Int, isFound: Bool) { (0, false) }
    func find(key: String) -> (index: Int, isFound: Bool) { (0, false) }
    func forEach(
      in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
    ) throws(StorageError) {
      for index in range { guard try body(value(at: index)) else { return } }
    }
  }

  private struct Element {
    var object: Int?
    var old: Int?
    var isSet = false
  }

  private static func edit(_ elements: inout [Element], _ random: inout SeededRandom) {
    let object: Int? = random.chance(10) ? nil : random.below(60)
    let position = random.below(elements.count)
    switch random.below(4) {
    case 0: elements.remove(at: position)
    case 1: elements.insert(elements.remove(at: position), at: random.below(elements.count + 1))
    case 2:
      elements[position].isSet = elements[position].old != nil
      if random.chance(70) { elements[position].object = object }
    default: elements.insert(Element(object: object), at: position)
    }
  }

  @Test(arguments: Seeds.of(0..<20 as Range<UInt64>))
  func randomEdits(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var objects: [Int?] = (0..<200).map { _ in random.chance(5) ? nil : random.below(60) }
    var index = ElementIndex(objects.map { $0.map { ObjectKey(Int64($0)) } })
    var followed = 0
    for _ in 0..<60 {
      var elements = objects.enumerated().map { Element(object: $1, old: $0) }
      for _ in 0...random.below(4) { Self.edit(&elements, &random) }
      var builder = EditScript.Builder(oldCount: objects.count)
      for element in elements {
        if let old = element.old {
          builder.append(old: old, isModified: element.isSet)
        } else {
          builder.appendFresh()
        }
      }
      let script = builder.finish()
      let before = index
      objects = elements.map(\.object)
      let edit = try index.follow(script, to: Sequence(objects)) { $0.rawValue == 7 }
      guard let edit else {
        index = ElementIndex(objects.map { $0.map { ObjectKey(Int64($0)) } })
        continue
      }
      followed += 1
      check(index, objects)
      check(edit, from: before, to: index, elements)
    }
    #expect(followed > 30)
  }

  private func check(_ index: ElementIndex, _ objects: [Int?]) {
    let names = index.names.keys
    #expect(names.map { index.object($0).map { Int($0.rawValue) } } == objects)
    for object in 0..<60 {
      let found = try? index.names(of: KeySet(ObjectKey(Int64(object))))
      let expected = objects.indices.filter { objects[$0] == object }.map { names[$0] }
      #expect(Set(found ?? []) == Set(expected))
      #expect(found?.count == expected.count)
    }
    index.names.checkInvariants()
    #expect(zip(names, names.dropFirst()).allSatisfy { index.isBefore($0, $1) })
  }

  private func check(
    _ edit: ElementIndex.Edit, from before: ElementIndex, to after: ElementIndex,
    _ elements: [Element]
  ) {
    let (old, new) = (before.names.keys, after.names.keys)
    #expect(Set(edit.gone) == Set(old).subtracting(new))
    #expect(Set(edit.come) == Set(new).subtracting(old))
    #expect(Set(edit.moved).isSubset(of: Set(old).intersection(new)))
    for (element, name) in zip(elements, new) {
      #expect(edit.set.contains(name) == element.isSet)
      guard let position = element.old else { continue }
      let isSame = before.object(old[position]) == after.object(name) && element.object != 7
      if !element.isSet || isSame {
        #expect(name == old[position])
      } else {
        #expect(name != old[position])
      }
    }
    let unmoved = new.filter { !edit.moved.contains($0) && !edit.come.contains($0) }
    #expect(unmoved == old.filter { unmoved.contains($0) })
  }
}
