import Foundation
import TestSupport
import Testing

@testable import Tarn

class PairPlace: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var number: Int?
  @Persisted var inner: PairPoint?
}

class PairPoint: EmbeddedObject {
  @Persisted var x = 0.0
}

class PairBag: EmbeddedObject {
  @Persisted var coins: List<Int>
}

class PairHome: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first: PairPlace?
  @Persisted var second: PairPlace?
  @Persisted var other: PairHome?
  @Persisted var bag: PairBag?
  @Persisted var spare: PairBag?
  @Persisted var former: List<PairPlace>
}

/// Two properties with embedded objects compare member by member, as Swift code would.
struct EmbeddedPairTests {
  private let instance: Instance

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/homes.realm")
    configuration.objectTypes = [PairHome.self, PairPlace.self, PairPoint.self, PairBag.self]
    instance = try Instance(configuration, shelter)
  }

  private var homes: Results<PairHome> { instance.realm.objects(PairHome.self) }

  private func ids(_ results: Results<PairHome>) -> [Int] { results.map(\.id) }

  private func place(_ street: String?, _ number: Int?, _ x: Double?) -> PairPlace? {
    guard let street else { return nil }
    let place = PairPlace()
    (place.street, place.number) = (street, number)
    if let x {
      place.inner = PairPoint()
      place.inner?.x = x
    }
    return place
  }

  private func isEqual(_ a: PairPlace?, _ b: PairPlace?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.street == b.street && a.number == b.number && (a.inner == nil) == (b.inner == nil)
      && a.inner?.x == b.inner?.x
  }

  @Test func membersDecide() throws {
    var random = SeededRandom(seed: 4)
    func any() -> PairPlace? {
      place(
        random.pick([nil, "a", "b"]), random.pick([nil, 1, 2]), random.pick([nil, 0.5]))
    }
    try instance.write {
      for id in 0..<300 {
        let home = PairHome()
        (home.id, home.first, home.second) = (id, any(), any())
        instance.realm.add(home)
      }
      for id in 1..<300 { homes[id].other = homes[random.below(id)] }
    }
    let equal: [Int] = homes.filter { isEqual($0.first, $0.second) }.map(\.id)
    #expect(equal.count > 20)
    #expect(equal.count < 200)
    let results = homes.where { $0.first == $0.second }
    var told = 0
    let token = results.observe { _ in told += 1 }
    instance.pump()
    #expect(ids(results) == equal)
    #expect(ids(homes.filter("first == second")) == equal)
    #expect(homes.where { $0.first != $0.second }.count == 300 - equal.count)
    let others: [Int] = homes.filter { isEqual($0.first, $0.other?.first) }.map(\.id)
    #expect(ids(homes.where { $0.first == $0.other.first }) == others)
    // A member of a member changes who is equal.
    let home = homes[equal.first { homes[$0].first?.inner != nil }!]
    try instance.write { home.first?.inner?.x = 9 }
    instance.pump()
    #expect(!results.contains(home))
    #expect(told == 2)
    withExtendedLifetime(token) {}
  }

  @Test func whatHasCollectionsDoesNotCompare() throws {
    for (text, message) in [
      ("bag == spare", "'PairBag.coins' is a collection. Compare their other properties"),
      ("first > second", "compare embedded objects only with == and !="),
      ("first == spare", "cannot compare 'first' (link to 'PairPlace') with 'spare'"),
      ("ANY former == first", "'former' is an embedded object, which as a whole compares only"),
      ("first != former[0]", "'first' is an embedded object, which as a whole compares only"),
    ] {
      let error = #expect(throws: Realm.Error.self) { _ = try homes.filtered(text) }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }
}
