import Foundation
import Testing

@testable import Tarn

private actor Reader {
  func texts(_ cats: Frozen<Results<Cat>>) -> [String] { cats.value.map(\.name) }
  func street(_ cat: Frozen<Cat>) -> String? { cat.home?.street }
  func count(_ cats: Frozen<SectionedResults<String, Cat>>) -> Int { cats.count }
}

/// Frozen objects and collections that pass to other actors.
struct FrozenTests {
  @Test func theyPassToActorsAndTasks() async throws {
    let a = try Shelter().open()
    try a.write { a.realm.add([Cat(1, "a", home: Home("High Street")), Cat(2, "b")]) }
    let (cat, cats) = (Frozen(a.cat(1)!), Frozen(a.cats.sorted(by: \.name)))
    let sections = Frozen(a.cats.sectioned(by: \.name))
    try a.write {
      a.cat(1)!.name = "z"
      a.cat(1)!.home = nil
    }
    #expect(cat.thaw()?.name == "z")
    #expect(a.cat(1)!.name == "z")
    let reader = Reader()
    #expect(await reader.street(cat) == "High Street")
    #expect(await reader.texts(cats) == ["a", "b"])
    #expect(await reader.count(sections) == 2)
    let name = await Task.detached { cat.name + cats.value[1].name }.value
    #expect(name == "ab")
    #expect(cat.value.isFrozen)
    #expect(cat == Frozen(cat.value))
    #expect(Set([cat, Frozen(cat.value)]).count == 1)
  }
}
