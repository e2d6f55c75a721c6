import Foundation
import TestSupport
import Testing

@testable import Tarn

/// An embedded object that comes to a position leaves the one where it was, and positions are meant
/// as they were before.
struct EmbeddedOwnerTests {
  @Test func anOwnElementInsteadOfAnother() throws {
    let box = try BeadBox()
    #expect(try box.after { $0.beads[2] = $0.beads[0] } == [1, 0, 3])
    #expect(try box.after { $0.beads[1] = $0.beads[0] } == [0, 2, 3])
    #expect(try box.after { $0.beads[3] = $0.beads[1] } == [0, 2, 1])
    #expect(try box.after { $0.beads[0] = $0.beads[3] } == [3, 1, 2])
    #expect(try box.after { $0.beads[1] = $0.beads[1] } == [0, 1, 2, 3])
    #expect(try box.after { $0.beads.replace(index: 0, object: $0.beads[1]) } == [1, 2, 3])
  }

  @Test func anOwnElementAddedAgain() throws {
    let box = try BeadBox()
    #expect(try box.after { $0.beads.append($0.beads[0]) } == [1, 2, 3, 0])
    #expect(try box.after { $0.beads.append($0.beads[3]) } == [0, 1, 2, 3])
    #expect(try box.after { $0.beads.insert($0.beads[0], at: 4) } == [1, 2, 3, 0])
    #expect(try box.after { $0.beads.insert($0.beads[3], at: 0) } == [3, 0, 1, 2])
    #expect(try box.after { $0.beads.insert($0.beads[1], at: 1) } == [0, 1, 2, 3])
    #expect(
      try box.after { $0.beads.append(objectsIn: [$0.beads[2], $0.beads[0]]) } == [1, 3, 2, 0])
    #expect(
      try box.after { $0.beads.insert(contentsOf: [$0.beads[3], $0.beads[0]], at: 2) }
        == [1, 3, 0, 2])
  }

  @Test func rangesOfOwnElements() throws {
    let box = try BeadBox()
    #expect(try box.after { $0.beads.replaceSubrange(2..<3, with: [$0.beads[0]]) } == [1, 0, 3])
    #expect(
      try box.after { $0.beads.replaceSubrange(1...2, with: [$0.beads[2], Bead(9), $0.beads[0]]) }
        == [2, 9, 0, 3])
    #expect(try box.after { $0.beads[2..<4] = $0.beads[0..<2] } == [0, 1])
    #expect(try box.after { $0.beads[0..<2] = $0.beads[2..<4] } == [2, 3])
    #expect(try box.after { $0.beads[1..<3] = $0.beads[1..<3] } == [0, 1, 2, 3])
    #expect(try box.after { $0.beads[0..<4] = $0.beads[1..<3] } == [1, 2])
  }

  @Test func listsBuiltOfOwnElements() throws {
    let box = try BeadBox()
    func reversed(_ necklace: Necklace) -> List<Bead> {
      let list = List<Bead>()
      list.append(objectsIn: necklace.beads.reversed())
      return list
    }
    #expect(try box.after { $0.beads = reversed($0) } == [3, 2, 1, 0])
    #expect(
      try box.after {
        let list = List<Bead>()
        list.append(objectsIn: [$0.beads[2], Bead(7), $0.beads[0]])
        $0.beads = list
      } == [2, 7, 0])
    #expect(
      try box.after { $0.setValue([$0.beads[3], $0.beads[1]], forKey: "beads") } == [3, 1])
  }

  @Test func sortingAndSwapping() throws {
    let box = try BeadBox()
    #expect(try box.after { $0.beads.sort { $0.n > $1.n } } == [3, 2, 1, 0])
    #expect(try box.after { $0.beads[1..<4].sort { $0.n > $1.n } } == [0, 3, 2, 1])
    #expect(
      try box.after { $0.beads.sort(using: KeyPathComparator(\.n, order: .reverse)) }
        == [3, 2, 1, 0])
    #expect(try box.after { $0.beads.reverse() } == [3, 2, 1, 0])
    #expect(try box.after { $0.beads[0..<3].reverse() } == [2, 1, 0, 3])
    #expect(try box.after { $0.beads.swapAt(0, 3) } == [3, 1, 2, 0])
    #expect(try box.after { $0.beads[1..<4].swapAt(1, 3) } == [0, 3, 2, 1])
    #expect(try box.after { _ = $0.beads.partition { $0.n < 2 } }.sorted() == [0, 1, 2, 3])
    var (random, same) = (SeededRandom(seed: 1), SeededRandom(seed: 1))
    let necklace = try box.add(1)
    try box.instance.write {
      necklace.beads.shuffle(using: &random)
      #expect(necklace.numbers == [0, 1, 2, 3].shuffled(using: &same))
      necklace.beads[1..<4].shuffle()
    }
    #expect(necklace.numbers.sorted() == [0, 1, 2, 3])
    #expect(try box.after { $0.beads.move(from: 0, to: 2) } == [1, 2, 0, 3])
  }

  @Test func theRowStaysTheSameWhenAnElementMoves() throws {
    let box = try BeadBox()
    let necklace = try box.add(1)
    let first = necklace.beads[0]
    try box.instance.write {
      necklace.beads.append(first)
      necklace.beads.sort { $0.n < $1.n }
      necklace.beads[3] = first
    }
    #expect(!first.isInvalidated)
    #expect(necklace.numbers == [1, 2, 0])
    #expect(try box.beadCount == 3)
  }

  @Test func mapsOfEmbeddedObjects() throws {
    let box = try BeadBox()
    let necklace = try box.add(1)
    for managed in [true, false] {
      let necklace = managed ? necklace : Necklace(2, beads: 4)
      try box.instance.write {
        necklace.named["a"] = Bead(10)
        necklace.named["b"] = Bead(11)
        necklace.named["c"] = necklace.named["a"]!
        #expect(necklace.names == ["a": nil, "b": 11, "c": 10])
        necklace.named["b"] = necklace.named["c"]!
        #expect(necklace.names == ["a": nil, "b": 10, "c": nil])
        necklace.named["b"] = necklace.named["b"]!
        #expect(necklace.names == ["a": nil, "b": 10, "c": nil])
        let other = Map<String, Bead?>()
        other["b"] = Bead(12)
        other["x"] = necklace.named["b"]!
        necklace.named = other
        #expect(necklace.names == ["b": 12, "x": 10])
      }
    }
    try box.expectSound()
    #expect(try box.beadCount == 6)
  }

  @Test func setsOfEmbeddedObjects() throws {
    let box = try BeadBox()
    let (one, two) = (try box.add(1), try box.add(2, beads: 0))
    try box.instance.write {
      one.bag.insert(objectsIn: [one.beads[3], one.beads[0], one.beads[0]])
      #expect(one.numbers == [1, 2])
      #expect(one.bag.map(\.n).sorted() == [0, 3])
      two.bag.insert(one.bag.first!)
      #expect(one.bag.count == 1)
      #expect(two.bag.count == 1)
      two.beads.append(two.bag.first!)
      #expect(two.bag.isEmpty)
      #expect(two.beads.count == 1)
      one.bag = two.bag
      one.bag.insert(one.beads[1])
    }
    try box.expectSound()
    #expect(try box.beadCount == 3)
  }

  @Test func betweenPropertiesAndBack() throws {
    let box = try BeadBox()
    let (one, two) = (try box.add(1), try box.add(2, beads: 2))
    try box.instance.write {
      one.clasp = one.beads[1]
      #expect(one.numbers == [0, 2, 3])
      #expect(one.clasp?.n == 1)
      one.beads.insert(one.clasp!, at: 3)
      #expect(one.numbers == [0, 2, 3, 1])
      #expect(one.clasp == nil)
      one.named["k"] = one.beads[0]
      #expect(one.numbers == [2, 3, 1])
      #expect(one.names == ["k": 0])
      two.beads[1] = one.named["k"]!!
      #expect(two.numbers == [0, 0])
      #expect(one.names == ["k": nil])
      two.beads.append(objectsIn: one.beads)
      #expect(two.numbers == [0, 0, 2, 3, 1])
      #expect(one.numbers == [])
      one.beads = two.beads
      #expect(one.numbers == [0, 0, 2, 3, 1])
      #expect(two.numbers == [])
    }
    try box.expectSound()
    #expect(try box.beadCount == 5)
  }

  @Test func anUnmanagedElementThatTakesOneOfTheList() throws {
    let box = try BeadBox()
    let one = try box.add(1)
    try box.instance.write {
      let new = Bead(9)
      new.inner = one.beads[0]
      one.beads.append(new)
      #expect(one.numbers == [1, 2, 3, 9])
      #expect(new.inner?.n == 0)
      let other = Bead(8)
      other.pearls.append(one.beads[1])
      one.beads[1] = other
      #expect(one.numbers == [1, 8, 3, 9])
      #expect(other.pearls.map(\.n) == [2])
    }
    try box.expectSound()
  }

  @Test func addingAnObjectWithOwnElementsOfAnother() throws {
    for update in [Realm.UpdatePolicy.modified, .all] {
      let box = try BeadBox()
      let one = try box.add(1)
      let (kept, last) = (one.beads[1], one.beads[3])
      try box.instance.write {
        let again = Necklace(1)
        again.beads.append(objectsIn: [one.beads[3], Bead(7), one.beads[1]])
        box.realm.add(again, update: update)
      }
      #expect(one.numbers == [3, 7, 1], "\(update)")
      #expect(!kept.isInvalidated)
      #expect(!last.isInvalidated)
      try box.expectSound()
      #expect(try box.beadCount == 3)
    }
  }

  @Test func anUnmanagedObjectAppendedTwiceIsThereOnce() throws {
    let box = try BeadBox()
    #expect(
      try box.after {
        let bead = Bead(9)
        $0.beads.append(bead)
        $0.beads.insert(bead, at: 0)
      } == [9, 0, 1, 2, 3])
  }

  @Test func creatingCopiesAnElementForEachOccurrence() throws {
    let box = try BeadBox()
    let bead = Bead(9)
    try box.instance.write {
      let one = box.realm.create(Necklace.self, value: ["id": 1, "beads": [bead, bead]])
      #expect(one.numbers == [9, 9])
      #expect(!one.beads[0].isSameObject(as: one.beads[1]))
    }
    try box.expectSound()
    #expect(bead.realm == nil)
  }

  @Test func listsOfDynamicObjects() throws {
    let box = try BeadBox()
    let one = try box.add(1)
    let dynamic = try #require(
      box.realm.dynamicObject(ofType: "Necklace", forPrimaryKey: 1))
    var list = dynamic.dynamicList("beads")
    try box.instance.write {
      list[2] = list[0]
      #expect(one.numbers == [1, 0, 3])
      list.append(list[0])
      #expect(one.numbers == [0, 3, 1])
      dynamic.setValue([list[2], list[0]], forKey: "beads")
      #expect(one.numbers == [1, 0])
      list.insert(list[0], at: 2)
      #expect(one.numbers == [0, 1])
      list.sort { $0["n"] as! Int > $1["n"] as! Int }
      #expect(one.numbers == [1, 0])
    }
    try box.expectSound()
  }

  @Test func observersAreToldOfMoves() throws {
    let box = try BeadBox()
    let one = try box.add(1)
    var calls: [String] = []
    let token = one.beads.observe { change in
      guard case .update(_, let deletions, let insertions, let modifications) = change else {
        return
      }
      calls.append("-\(deletions) +\(insertions) ~\(modifications)")
    }
    box.instance.pump()
    let changes: [(Necklace) -> Void] = [
      { $0.beads.append($0.beads[0]) }, { $0.beads[1] = $0.beads[0] },
      { $0.beads.sort { $0.n < $1.n } },
    ]
    for change in changes {
      try box.instance.write { change(one) }
      box.instance.pump()
    }
    #expect(calls.first == "-[0] +[3] ~[]")
    #expect(calls.count == 3)
    token.invalidate()
  }
}
