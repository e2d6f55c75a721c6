import TestSupport
import Testing

@testable import Tarn

/// Rows are shared by all results that ask for the same, from the second use of each on; and
/// from the first where somebody shares them already.
struct ResultSharingTests {
  private func adults(_ instance: Instance) -> Results<Cat> {
    instance.realm.objects(Cat.self).where { $0.age >= 20 }
  }

  private func known(_ results: Results<Cat>) -> LiveResult? {
    results.core.knownResult(WeakTable.Name(results.spec))
  }

  @Test func oneUseSharesNothing() throws {
    let instance = try Shelter().open(cats: 5)
    let results = adults(instance)
    #expect(known(results) == nil)
    #expect(results.count == 3)
    #expect(known(results) == nil)
    #expect(results.first?.id == 2)
    #expect(known(results) != nil)
  }

  @Test func observedRowsAreSharedAtOnce() throws {
    let instance = try Shelter().open(cats: 5)
    let observed = adults(instance)
    let token = observed.observe { _ in }
    defer { token.invalidate() }
    #expect(known(observed) != nil)
    let once = adults(instance)
    #expect(once.count == 3)
    #expect(once.live === observed.live)
  }

  /// Two that were read once each have rows of their own. They come together when they are used
  /// again, and both show every change before and after.
  @Test func rowsComeTogether() throws {
    let instance = try Shelter().open(cats: 5)
    let (one, other) = (adults(instance), adults(instance))
    #expect(one.count == 3)
    #expect(other.count == 3)
    try instance.realm.write { instance.realm.add(Cat(7, "late", age: 70)) }
    #expect(one.map(\.id) == [2, 3, 4, 7])
    #expect(other.map(\.id) == [2, 3, 4, 7])
    #expect(one.live === other.live)
    try instance.realm.write { instance.realm.delete(one[0]) }
    #expect(one.map(\.id) == [3, 4, 7])
    #expect(other.map(\.id) == [3, 4, 7])
  }

  @Test func frozenResultsShareFromTheBeginning() throws {
    let instance = try Shelter().open(cats: 5)
    let frozen = adults(instance).freeze()
    let again = frozen.realm!.objects(Cat.self).where { $0.age >= 20 }
    #expect(frozen.live === again.live)
    #expect(again.count == 3)
  }

  /// Whoever lets go of the last results of a query lets go of its rows.
  @Test func rowsEndWithTheirResults() throws {
    let instance = try Shelter().open(cats: 5)
    var results: Results<Cat>? = adults(instance)
    let name = WeakTable.Name(results!.spec)
    #expect(results!.count == 3)
    #expect(results!.count == 3)
    #expect(instance.realm.core.knownResult(name) != nil)
    results = nil
    #expect(instance.realm.core.knownResult(name) == nil)
  }

  /// Names with equal hashes are told apart by what they name.
  @Test func hashesMayCollide() {
    struct Key: Hashable {
      let text: String
      func hash(into hasher: inout Hasher) { hasher.combine(1) }
    }
    var table = WeakTable<Key>()
    let things = (0..<200).map { _ in Thing() }
    for (number, thing) in things.enumerated() {
      table.insert(thing, for: WeakTable.Name(Key(text: "\(number)")))
    }
    for (number, thing) in things.enumerated() {
      #expect(table[WeakTable.Name(Key(text: "\(number)"))] === thing)
    }
    #expect(table[WeakTable.Name(Key(text: "none"))] == nil)
  }

  private final class Thing {}
}
