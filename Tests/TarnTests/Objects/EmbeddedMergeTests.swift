import Foundation
import Testing

@testable import Tarn

/// Embedded objects in objects that are added under `.modified`: those at the same position are the
/// same.
struct EmbeddedMergeTests {
  private func necklace(_ beads: [Int], clasp: Int?, named: [String: Int?]) -> Necklace {
    let necklace = Necklace(1)
    necklace.beads.append(objectsIn: beads.map { Bead($0) })
    necklace.clasp = clasp.map { Bead($0) }
    necklace.clasp?.pearls.append(Bead(100))
    for (key, bead) in named { necklace.named.updateValue(bead.map { Bead($0) }, forKey: key) }
    return necklace
  }

  /// What observers of the object, its list and its map are told of, and of the Realm.
  private final class Calls {
    var list: [String] = []
    var map: [String] = []
    var object: [String] = []
    var realm = 0
    var tokens: [NotificationToken] = []

    init(_ necklace: Necklace) {
      tokens.append(
        necklace.beads.observe { [unowned self] change in
          guard case .update(_, let deletions, let insertions, let modifications) = change else {
            return
          }
          list.append("-\(deletions) +\(insertions) ~\(modifications)")
        })
      tokens.append(
        necklace.named.observe { [unowned self] change in
          guard case .update(_, let deletions, let insertions, let modifications) = change else {
            return
          }
          map.append("-\(deletions) +\(insertions) ~\(modifications)")
        })
      tokens.append(
        necklace.observe { [unowned self] change in
          guard case .change(_, let properties) = change else { return }
          object.append(properties.map(\.name).sorted().joined(separator: " "))
        })
    }
  }

  @Test func nothingIsToldWhereNothingDiffers() throws {
    let box = try BeadBox()
    func made() -> Necklace { necklace([0, 1], clasp: 2, named: ["a": 3, "b": nil]) }
    let one = made()
    try box.instance.write { box.realm.add(one) }
    let (bead, clasp, named) = (one.beads[1], one.clasp!, one.named["a"]!!)
    let calls = Calls(one)
    box.instance.pump()
    let isUnchanged = try box.realm.write {
      box.realm.add(made(), update: .modified)
      return box.realm.core.session!.isEmpty
    }
    box.instance.pump()
    #expect(isUnchanged)
    #expect(calls.list == [])
    #expect(calls.map == [])
    #expect(calls.object == [])
    #expect(!bead.isInvalidated)
    #expect(!clasp.isInvalidated)
    #expect(!named.isInvalidated)
    for token in calls.tokens { token.invalidate() }
  }

  @Test func whatDiffersIsChangedInPlace() throws {
    let box = try BeadBox()
    let one = necklace([0, 1, 2], clasp: 3, named: ["a": 4, "b": 5, "c": nil])
    try box.instance.write { box.realm.add(one) }
    let (bead, clasp, pearl, named) = (
      one.beads[1], one.clasp!, one.clasp!.pearls[0], one.named["a"]!!
    )
    let calls = Calls(one)
    box.instance.pump()
    try box.instance.write {
      let again = necklace([0, 11, 2, 12], clasp: 13, named: ["a": 14, "c": 15, "d": nil])
      again.clasp?.pearls[0].n = 16
      box.realm.add(again, update: .modified)
      #expect(again.beads[1].isSameObject(as: bead))
    }
    box.instance.pump()
    #expect(one.numbers == [0, 11, 2, 12])
    #expect(one.clasp?.n == 13)
    #expect(one.names == ["a": 14, "c": 15, "d": nil])
    #expect(bead.n == 11)
    #expect(clasp.n == 13)
    #expect(pearl.n == 16)
    #expect(named.n == 14)
    #expect(calls.list == ["-[] +[3] ~[1]"])
    #expect(calls.map == ["-[\"b\"] +[\"d\"] ~[\"a\", \"c\"]"])
    try box.instance.write {
      box.realm.add(necklace([0], clasp: nil, named: [:]), update: .modified)
    }
    #expect(one.numbers == [0])
    #expect(one.clasp == nil)
    #expect(one.names.isEmpty)
    #expect(try box.beadCount == 1)
    try box.expectSound()
    for token in calls.tokens { token.invalidate() }
  }

  @Test func createDoesTheSameFromValues() throws {
    let box = try BeadBox()
    let values: [String: Any] = [
      "id": 1, "beads": [["n": 0], ["n": 1]], "clasp": ["n": 2, "inner": ["n": 3]],
      "named": ["a": ["n": 4]],
    ]
    var one: Necklace!
    try box.instance.write { one = box.realm.create(Necklace.self, value: values) }
    try box.instance.write { one.beads[0].size = 7 }
    let bead = one.beads[0]
    try box.instance.write {
      box.realm.create(Necklace.self, value: values, update: .modified)
      #expect(box.realm.core.session!.isEmpty)
    }
    // Only what is named is written.
    #expect(!bead.isInvalidated)
    #expect(bead.size == 7)
    try box.instance.write {
      box.realm.create(Necklace.self, value: ["id": 1, "clasp": ["size": 9]], update: .modified)
    }
    #expect(one.clasp?.n == 2)
    #expect(one.clasp?.size == 9)
    #expect(one.numbers == [0, 1])
    try box.expectSound()
  }

  @Test func whatEmbeddedObjectsLinkToFollowsThePolicy() throws {
    let box = try BeadBox()
    try box.instance.write {
      box.realm.create(BeadShop.self, value: ["id": 1, "name": "old"])
      let one = Necklace(1)
      let (bead, shop) = (Bead(1), BeadShop())
      shop.id = 1
      shop.name = "new"
      bead.seller = shop
      one.beads.append(bead)
      box.realm.add(one, update: .modified)
    }
    #expect(box.realm.objects(BeadShop.self).map(\.name) == ["new"])
  }
}
