import Foundation
import TestSupport
import Testing

@testable import Tarn

private class Crate: Object {
  @Persisted var any: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Changes of lists and maps within values: observers of the property are told of them, whether the
/// object is in a Realm or in none.
struct NestedPropertyTests {
  private let folder = TemporaryFolder()

  /// Runs `body` with an unmanaged object, and with a managed one within a write.
  private func withBoth(_ body: (Crate, String) -> Void) throws {
    body(Crate(), "unmanaged")
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("crates.realm"), objectTypes: [Crate.self], durability: .relaxed))
    try realm.write { body(realm.create(Crate.self, value: [:] as [String: Any]), "managed") }
  }

  @Test func aMapOrListThatAValueIsTellsWhatIsDoneToIt() throws {
    try withBoth { crate, what in
      crate.any = ["a": 1, "deep": [["b": 2]]]
      let calls = watch(crate, \.any, [])
      func count(_ change: () -> Void) -> Int {
        change()
        return calls.news.count
      }
      #expect(count { crate.any.dictionaryValue?["a"] = 5 } == 1, "\(what)")
      #expect(count { crate.any.dictionaryValue?["a"] = nil } == 1, "\(what)")
      let deep = crate.any.dictionaryValue?["deep"]?.listValue
      #expect(count { deep?[0].dictionaryValue?["b"] = 3 } == 1, "\(what)")
      #expect(count { deep?.append(["new": 1]) } == 1, "\(what)")
      #expect(count { deep?[1].dictionaryValue?["new"] = 2 } == 1, "\(what)")
      #expect(count { crate.any = [[1], 2] } == 1, "\(what)")
      #expect(count { crate.any.listValue?[0].listValue?.append(9) } == 1, "\(what)")
      #expect(count { crate.any.listValue?.move(from: 0, to: 1) } == 1, "\(what)")
      #expect(count { crate.any.listValue?[1].listValue?.append(9) } == 1, "\(what)")
    }
  }

  @Test func soDoElementsOfCollections() throws {
    try withBoth { crate, what in
      crate.list.append(["a": 1])
      crate.map["m"] = [1]
      let (list, map) = (watch(crate, \.list, []), watch(crate, \.map, []))
      crate.list[0].dictionaryValue?["a"] = 2
      #expect(list.news == ["- → -"], "\(what)")
      crate.list.append([[3]])
      #expect(list.news == ["insertion [1]"], "\(what)")
      crate.list[1].listValue?[0].listValue?.append(4)
      #expect(list.news == ["- → -"], "\(what)")
      crate.map["m"]?.listValue?.append(2)
      crate.map["n"] = ["x": 1]
      crate.map["n"]?.dictionaryValue?["x"] = 2
      #expect(map.news.count == 3, "\(what)")
      #expect(list.news == [], "\(what)")
    }
  }

  @Test func whatIsInTheUnmanagedValueNoMoreTellsNothing() {
    let crate = Crate()
    let (inner, shared) = (List<AnyRealmValue>(), List<AnyRealmValue>())
    inner.append(.list(shared))
    crate.any = [.list(inner), .list(shared), 1]
    let calls = watch(crate, \.any, [])
    shared.append(1)
    #expect(calls.news.count == 1)
    let outer = crate.any.listValue!
    outer.remove(at: 0)
    _ = calls.news
    inner.append(2)
    #expect(calls.news == [])
    // It is at its other position still.
    shared.append(2)
    #expect(calls.news.count == 1)
    outer[0] = 5
    _ = calls.news
    shared.append(3)
    #expect(calls.news == [])
    crate.any = .list(inner)
    _ = calls.news
    shared.append(4)
    #expect(calls.news.count == 1)
    outer.append(6)
    crate.any = 7
    _ = calls.news
    inner.append(8)
    outer.append(9)
    #expect(calls.news == [])
  }

  @Test func aListWithinTwoObjectsTellsTheObserversOfBoth() {
    let (one, other, shared) = (Crate(), Crate(), Map<String, AnyRealmValue>())
    one.any = .dictionary(shared)
    other.list.append(.dictionary(shared))
    let (first, second) = (watch(one, \.any, []), watch(other, \.list, []))
    shared["a"] = 1
    #expect(first.news.count == 1)
    #expect(second.news.count == 1)
    first.token?.invalidate()
    shared["a"] = 2
    #expect(first.news == [])
    #expect(second.news.count == 1)
  }
}
