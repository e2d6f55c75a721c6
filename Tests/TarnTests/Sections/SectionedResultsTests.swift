import Foundation
import Testing

@testable import Tarn

/// What sections show.
struct SectionedResultsTests {
  typealias ByName = SectionedResults<String, Cat>

  /// Cats named a, b, a, c, b with ages 0, 10, …
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

  @Test func aPropertyMakesSectionsInItsOrder() throws {
    let a = try open()
    #expect(text(a.cats.sectioned(by: \.name)) == "a: 0 2, b: 1 4, c: 3")
    #expect(text(a.cats.sectioned(by: \.name, ascending: false)) == "c: 3, b: 1 4, a: 0 2")
    let down = SortDescriptor(keyPath: \Cat.age, ascending: false)
    let sections = a.cats.sectioned(by: \.name, sortDescriptors: ["name", down])
    #expect(text(sections) == "a: 2 0, b: 4 1, c: 3")
    #expect(text(a.cats.where { $0.age > 15 }.sectioned(by: \.name)) == "a: 2, b: 4, c: 3")
  }

  @Test func aBlockMakesSectionsInTheOrderOfTheirFirstRows() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: { $0.name }, sortDescriptors: ["age"])
    #expect(text(sections) == "a: 0 2, b: 1 4, c: 3")
    let down = a.cats.sectioned(
      by: { $0.name }, sortDescriptors: [SortDescriptor(keyPath: \Cat.age, ascending: false)])
    #expect(text(down) == "b: 4 1, c: 3, a: 2 0")
  }

  /// The getter reads one property, by which the rows are ordered.
  @Test func aComputedPropertyMakesSections() throws {
    let a = try open()
    try a.write { a.cat(3)!.home = Home("High Street") }
    #expect(text(a.cats.sectioned(by: \.decade)) == "0: 0, 1: 1 2, 3: 3 4")
    #expect(text(a.cats.sectioned(by: \.decade, ascending: false)) == "3: 4 3, 1: 2 1, 0: 0")
    #expect(text(a.cats.sectioned(by: \.name.count)) == "1: 0 2 1 4 3")
    #expect(text(a.cats.sectioned(by: \.streetLength)) == "11: 3, 0: 0 1 2 4")
    let both = a.cats.sectioned(by: \.nameAndAge, sortDescriptors: ["name", "age"])
    #expect(text(both) == "a0: 0, a20: 2, b10: 1, b40: 4, c30: 3")
    #expect(a.cats.sectioned(by: \.decade) == a.cats.sectioned(by: \.decade))
    let recorder = SectionRecorder(a.cats.sectioned(by: \.decade)) { "\($0.id) \($0.age)" }
    a.pump()
    try a.write { a.cat(0)!.age = 35 }
    a.pump()
    #expect(recorder.calls == ["initial 3", "-[] +[1.1] ~[] -[0] +[]"])
    #expect(recorder.problems == [])
    #expect(text(a.cats.sectioned(by: \.decade).freeze()) == "1: 1 2, 3: 3 0 4")
  }

  @Test func whatCanBeAskedOfThem() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: \.name)
    #expect(sections.count == 3)
    #expect(sections.allKeys == ["a", "b", "c"])
    #expect(sections[1].key == "b")
    #expect(sections[1].id == "b")
    #expect(sections[1].count == 2)
    #expect(sections[1][1].id == 4)
    #expect(sections[1].last?.id == 4)
    #expect(sections[IndexPath(item: 1, section: 0)].id == 2)
    #expect(sections[0].realm == a.realm)
    #expect(!sections.isInvalidated)
    #expect(!sections[0].isInvalidated)
    #expect(sections.first?.key == "a")
    #expect(sections.last?.key == "c")
    #expect(sections.description.contains("SectionedResults<String, Cat> ("))
    #expect(sections[2].description.hasPrefix("ResultsSection<String, Cat> c ("))
    #expect(sections.flatMap { $0 }.map(\.id) == [0, 2, 1, 4, 3])
  }

  @Test func sectionsByOnePropertyAreShared() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: \.name)
    #expect(sections == a.cats.sectioned(by: \.name))
    #expect(sections[0] == a.cats.sectioned(by: \.name)[0])
    #expect(sections[0] != sections[1])
    #expect(sections != a.cats.sectioned(by: \.name, ascending: false))
    #expect(sections != a.cats.where { $0.age > 1 }.sectioned(by: \.name))
    let block = a.cats.sectioned(by: { $0.name }, sortDescriptors: ["name"])
    #expect(block == block)
    #expect(block != a.cats.sectioned(by: { $0.name }, sortDescriptors: ["name"]))
    #expect(block.sections !== sections.sections)
  }

  @Test func keysAreAskedForOnlyWhereSomethingChanged() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 10)
    let b = try shelter.open()
    var asked: [Int] = []
    let sections = a.cats.sectioned(
      by: { cat in
        asked.append(cat.id)
        return cat.age / 30
      }, sortDescriptors: ["age"])
    #expect(asked == [])
    #expect(sections.allKeys == [0, 1, 2, 3])
    #expect(asked.count == 10)
    asked = []
    _ = (sections.count, sections[2].count, sections[0][0])
    #expect(asked == [])
    try a.write {
      a.cat(3)?.name = "x"
      a.cat(4)?.age = 65
      #expect(sections.map { $0.map(\.id) } == [[0, 1, 2], [3, 5], [6, 4, 7, 8], [9]])
      #expect(asked == [3, 4])
      a.realm.add(Cat(20, age: 31))
      #expect(sections[1].map(\.id) == [3, 20, 5])
      #expect(asked == [3, 4, 20])
    }
    asked = []
    try b.write { b.cat(9)?.age = 1 }
    a.realm.refresh()
    #expect(sections.map { $0.map(\.id) } == [[0, 9, 1, 2], [3, 20, 5], [6, 4, 7, 8]])
    #expect(Set(asked) == [3, 4, 20, 9])
    let token = sections.observe { _ in }
    a.pump()
    asked = []
    try a.write { a.cat(5)?.age = 33 }
    a.pump()
    #expect(asked == [5])
    #expect(sections[1].map(\.id) == [3, 20, 5])
    token.invalidate()
    try a.write { a.cat(6)?.name = "y" }
    #expect(sections.count == 3)
    #expect(asked == [5, 6])
  }

  @Test func anOpenWriteIsShownAndACancelledOneIsForgotten() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: \.name)
    a.realm.beginWrite()
    a.realm.add(Cat(9, "aa"))
    #expect(sections.allKeys == ["a", "aa", "b", "c"])
    let section = sections[1]
    #expect(section.map(\.id) == [9])
    a.realm.delete(a.cats.where { $0.name == "a" })
    #expect(sections.allKeys == ["aa", "b", "c"])
    #expect(section.map(\.id) == [9])
    a.realm.cancelWrite()
    #expect(text(sections) == "a: 0 2, b: 1 4, c: 3")
    #expect(section.isInvalidated)
    #expect(section.isEmpty)
  }

  @Test func aLoopGoesOverWhatThereWasWhenItBegan() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: \.name)
    var seen: [Int] = []
    try a.write {
      for section in sections {
        for cat in section {
          seen.append(cat.id)
          cat.name = "z"
        }
      }
    }
    #expect(seen == [0, 2, 1, 4, 3])
    #expect(text(sections) == "z: 0 1 2 3 4")
  }

  @Test func keysThatAreNoNumbersAreOne() throws {
    let a = try open()
    try a.write {
      for cat in a.cats { cat.weight = cat.id < 2 ? .nan : cat.id < 4 ? nil : 0 }
    }
    let sections = a.cats.sectioned(by: \.weight)
    #expect(sections.map { $0.map(\.id) } == [[2, 3], [0, 1], [4]])
    #expect(sections[1].count == 2)
    #expect(sections[1] == sections[1])
  }

  @Test func anInvalidatedRealmEndsThem() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: \.name)
    let section = sections[0]
    a.realm.invalidate()
    #expect(sections.isInvalidated)
    #expect(section.isInvalidated)
    #expect(sections.description == "SectionedResults<String, Cat> [invalidated]")
    #expect(text(a.cats.sectioned(by: \.name)) == "a: 0 2, b: 1 4, c: 3")
  }

  @Test func collectionsOfObjectsHaveSections() throws {
    let instance = try Shelter().openKennel(3, 1, 3, 2)
    let hounds = instance.kennel.hounds
    try instance.write { hounds.append(hounds[1]) }
    let sections = hounds.sectioned(by: \.age)
    #expect(sections.map { $0.map(\.id) } == [[1, 1], [3], [0, 2]])
    let odd = hounds.sectioned(by: { $0.age % 2 == 1 }, sortDescriptors: ["age"])
    #expect(odd.map { $0.map(\.id) } == [[1, 1, 0, 2], [3]])
    try instance.write { instance.realm.delete(instance.kennel) }
    #expect(sections.isEmpty)
    #expect(odd.isEmpty)
  }
}

extension Cat {
  fileprivate var decade: Int { age == 0 ? 0 : age / 30 * 2 + 1 }
  fileprivate var nameAndAge: String { name + "\(age)" }
  fileprivate var streetLength: Int { home?.street.count ?? 0 }
}
