import Foundation
import Testing

@testable import Tarn

/// Sections that show one version for good, and back.
struct SectionFreezingTests {
  private func open() throws -> Instance {
    let instance = try Shelter().open()
    try instance.write {
      for (id, name) in ["a", "b", "a", "c", "b"].enumerated() {
        instance.realm.add(Cat(id, name, age: 10 * id))
      }
    }
    return instance
  }

  private func text<Key>(_ sections: SectionedResults<Key, Cat>) -> String {
    sections.map { "\($0.key): \($0.map { "\($0.id)" }.joined(separator: " "))" }
      .joined(separator: ", ")
  }

  @Test func frozenSectionsStay() throws {
    let a = try open()
    let live = a.cats.sectioned(by: \.name)
    let frozen = live.freeze()
    let section = live[1].freeze()
    try a.write {
      a.realm.delete(a.cat(1)!)
      a.cat(0)!.name = "d"
    }
    #expect(text(live) == "a: 2, b: 4, c: 3, d: 0")
    #expect(text(frozen) == "a: 0 2, b: 1 4, c: 3")
    #expect(section.map(\.id) == [1, 4])
    #expect(section.key == "b")
    #expect(frozen.isFrozen)
    #expect(section.isFrozen)
    #expect(frozen[0].isFrozen)
    #expect(frozen[0][0].isFrozen)
    #expect(!live.isFrozen)
    #expect(!live[0].isFrozen)
    #expect(frozen.freeze() == frozen)
    #expect(frozen[2].freeze() == frozen[2])
    #expect(frozen[IndexPath(item: 1, section: 0)].id == 2)
    #expect(frozen.realm == section.realm)
    #expect(frozen.realm?.isFrozen == true)
    #expect(frozen != live)
    #expect(frozen != live.freeze())
  }

  @Test func thawedSectionsAreThoseOfTheRealm() throws {
    let a = try open()
    let live = a.cats.sectioned(by: \.name)
    let (frozen, b, c) = (live.freeze(), live[1].freeze(), live[2].freeze())
    try a.write { a.realm.delete(a.cats.where { $0.id != 4 }) }
    let thawed = try #require(frozen.thaw())
    #expect(thawed == live)
    #expect(text(thawed) == "b: 4")
    #expect(live.thaw() == live)
    #expect(b.thaw() == live[0])
    #expect(b.thaw()?.map(\.id) == [4])
    #expect(c.thaw() == nil)
    #expect(c.count == 1)
    #expect(a.realm.thaw(frozen) == live)
    #expect(a.realm.thaw(c) == nil)
  }

  @Test func sectionsByABlock() throws {
    let a = try open()
    var calls = 0
    let live = a.cats.sectioned(
      by: { cat -> Bool in
        calls += 1
        return cat.age > 15
      }, sortDescriptors: ["age"])
    #expect(live.count == 2)
    #expect(calls == 5)
    let frozen = live.freeze()
    // What is known already is not asked for again.
    #expect(live.freeze() == frozen)
    #expect(calls == 5)
    try a.write { a.cat(0)!.age = 99 }
    #expect(text(live) == "false: 1, true: 2 3 4 0")
    #expect(calls == 6)
    #expect(text(frozen) == "false: 0 1, true: 2 3 4")
    #expect(calls == 6)
    let thawed = try #require(frozen.thaw())
    #expect(text(thawed) == text(live))
    #expect(calls == 11)
    let later = live.freeze()
    #expect(later != frozen)
    #expect(text(later) == text(live))
    #expect(calls == 11)
  }

  @Test func observedSectionsAreFrozenAsTheyAre() throws {
    let a = try open()
    var calls = 0
    let live = a.cats.sectioned(
      by: { cat -> String in
        calls += 1
        return cat.name
      }, sortDescriptors: ["age"])
    let recorder = SectionRecorder(live) { "\($0.id)" }
    a.pump()
    try a.write { a.realm.add(Cat(5, "e", age: 50)) }
    let frozen = live.freeze()
    a.pump()
    #expect(text(frozen) == "a: 0 2, b: 1 4, c: 3, e: 5")
    #expect(calls == 6)
    #expect(recorder.problems == [])
    #expect(recorder.calls.count == 2)
  }

  @Test func inAWriteTheStateBeforeItIsFrozen() throws {
    let a = try open()
    let live = a.cats.sectioned(by: \.name)
    let byBlock = a.cats.sectioned(by: { $0.name.count }, sortDescriptors: ["age"])
    #expect(live.count == 3)
    try a.write {
      a.realm.delete(a.cat(3)!)
      a.cat(0)!.name = "longer"
      #expect(text(live) == "a: 2, b: 1 4, longer: 0")
      #expect(text(live.freeze()) == "a: 0 2, b: 1 4, c: 3")
      #expect(text(byBlock.freeze()) == "1: 0 1 2 3 4")
      #expect(text(byBlock) == "6: 0, 1: 1 2 4")
      #expect(live[0].freeze().map(\.id) == [0, 2])
    }
    #expect(text(live.freeze()) == "a: 2, b: 1 4, longer: 0")
  }

  @Test func sectionsOfFrozenResults() throws {
    let a = try open()
    let frozen = a.cats.freeze()
    let sections = frozen.sectioned(by: \.name)
    #expect(sections == a.cats.sectioned(by: \.name).freeze())
    try a.write { a.realm.deleteAll() }
    #expect(text(sections) == "a: 0 2, b: 1 4, c: 3")
    #expect(text(frozen.sectioned(by: { $0.id }, sortDescriptors: ["age"])).hasPrefix("0: 0, 1: 1"))
    #expect(sections.thaw()?.isEmpty == true)
  }

  @Test func nothingIsLeftBehind() throws {
    let shelter = try Shelter()
    weak var frozen: RealmCore?
    weak var sections: LiveSections<String>?
    do {
      let a = try shelter.open(cats: 3)
      let made = a.cats.sectioned(by: \.name).freeze()
      (frozen, sections) = (made.realm?.core, made.sections)
      #expect(made.count == 3)
    }
    #expect(frozen == nil)
    #expect(sections == nil)
  }

  @Test func sectionsOfWhatIsGone() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let sections = a.glacier(1)!.stones.sectioned(by: \.weight)
    let values = a.glacier(1)!.depths.sectioned(by: { $0 % 7 })
    let (frozen, frozenValues) = (sections.freeze(), values.freeze())
    try a.write { a.realm.delete(a.glaciers) }
    #expect(sections.isEmpty)
    #expect(values.isEmpty)
    #expect(frozen.allKeys == [10, 11, 12])
    #expect(frozenValues.map(\.count) == [3])
    #expect(frozen.thaw() == nil)
    #expect(frozenValues.thaw() == nil)
  }
}
