import TestSupport
import Testing

@testable import Tarn

/// What elements at positions compare with, and ranges that a text has no word for.
struct TrunkElementTests {
  private let instance: Instance

  init() throws {
    instance = try Shelter().openTrunks()
    try instance.write {
      for id in 0..<4 { instance.realm.create(Trunk.self, value: ["id": id, "limit": id]) }
      instance.trunk(0)!.kids.append(objectsIn: [instance.trunk(1)!, instance.trunk(2)!])
      instance.trunk(1)!.kids.append(objectsIn: [instance.trunk(2)!, instance.trunk(1)!])
      instance.trunk(0)!.labels.append(objectsIn: [TrunkLabel(1, "a"), TrunkLabel(2)])
      instance.trunk(1)!.labels.append(TrunkLabel(2))
      instance.trunk(0)!.notes.append(TrunkNote())
      instance.trunk(1)!.notes.append(TrunkNote("a"))
      for id in 0..<4 {
        instance.trunk(id)!.sizes.append(objectsIn: [nil, id])
        instance.trunk(id)!.marks["a"] = id
        instance.trunk(id)!.spares["a"] = id
        instance.trunk(id)!.spares["b"] = .some(nil)
      }
    }
  }

  private func ids(_ condition: (Query<Trunk>) -> Query<Bool>) -> [Int] {
    instance.trunks.where(condition).map(\.id)
  }

  @Test func objectsAtPositions() {
    let (first, second) = (instance.trunk(1)!, instance.trunk(2)!)
    #expect(ids { $0.kids[0] == first } == [0])
    #expect(ids { $0.kids[0] != first } == [1, 2, 3])
    #expect(ids { $0.kids[1].in([first, second]) } == [0, 1])
    #expect(ids { $0.kids.kids[0] == second } == [0, 1])
    #expect(instance.trunks.filter("kids[0] == %@", first).map(\.id) == [0])
    #expect(instance.trunks.filter("kids[LAST] == %@", first).map(\.id) == [1])
  }

  /// Where there is no element, none is equal, not even to an object of nothing but nil.
  @Test func embeddedObjectsAtPositions() {
    #expect(ids { $0.labels[0] == TrunkLabel(2) } == [1])
    #expect(ids { $0.labels[0] != TrunkLabel(2) } == [0, 2, 3])
    #expect(ids { $0.labels[1] == TrunkLabel(2) } == [0])
    #expect(ids { $0.notes[0] == TrunkNote() } == [0])
    #expect(ids { $0.notes[0] != TrunkNote() } == [1, 2, 3])
    #expect(instance.trunks.filter("ANY labels IN %@", [TrunkLabel(1, "a")]).map(\.id) == [0])
    #expect(
      instance.trunks.filter("labels[0] IN %@", [TrunkLabel(2), nil]).map(\.id) == [1, 2, 3])
  }

  @Test func rangesWithoutTheirEnd() {
    #expect(ids { $0.sizes.contains(1..<3) } == [1, 2])
    #expect(ids { $0.marks.contains(0..<2) } == [0, 1])
    #expect(ids { $0.spares.contains(2..<9) } == [2, 3])
    #expect(ids { ($0.sizes.containsAny(in: 1..<3)).count == 1 } == [1, 2])
    #expect(ids { ($0.kids.sizes.containsAny(in: 2..<3)).count == 1 } == [0, 1])
  }
}
