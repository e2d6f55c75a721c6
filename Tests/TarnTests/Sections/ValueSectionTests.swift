import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Sections of collections of values.
struct ValueSectionTests {
  private let shelter: Shelter
  private let a: Instance
  private let b: Instance
  private var chest: Chest { a.chest(1)! }

  init() throws {
    shelter = try Shelter()
    (a, b) = (try shelter.openChests(), try shelter.openChests())
    try b.write {
      let chest = Chest(1)
      b.realm.add(chest)
      chest.numbers.append(objectsIn: [31, 10, 22, 32, 11, 31])
      chest.words.append(objectsIn: ["bee", nil, "ant", "ape", nil])
      chest.tags.insert(objectsIn: ["red", "blue", "black"])
      chest.scores.merge(["x": 7, "y": 3, "z": 7]) { $1 }
      chest.moods.append(objectsIn: [.wild, .sleepy, .wild])
    }
    _ = a.realm.refresh()
  }

  private func text<Key, E>(_ sections: SectionedResults<Key, E>) -> String {
    sections.map { "\($0.key): \($0.map { "\($0)" }.joined(separator: " "))" }
      .joined(separator: ", ")
  }

  @Test func sectionsInTheOrderOfTheValues() {
    let tens = chest.numbers.sectioned(by: { $0 / 10 })
    #expect(text(tens) == "1: 10 11, 2: 22, 3: 31 31 32")
    #expect(text(chest.numbers.sectioned(by: { $0 / 10 }, ascending: false)).hasPrefix("3: 32"))
    #expect(text(chest.numbers.sectioned(by: { $0 % 2 == 0 })) == "true: 10 22 32, false: 11 31 31")
    #expect(text(chest.tags.sectioned(by: \.count)) == "5: black, 4: blue, 3: red")
    let letters = chest.words.sectioned(by: { $0?.prefix(1).description })
    #expect(letters.allKeys == [nil, "a", "b"])
    #expect(letters.map(\.count) == [2, 2, 1])
    #expect(chest.moods.sectioned(by: { $0 }).map(\.count) == [1, 2])
    #expect(text(chest.scores.sorted().sectioned(by: { $0 })) == "3: 3, 7: 7 7")
    let any = AnyRealmCollection(chest.numbers)
    #expect(text(any.sectioned(by: { $0 / 10 })) == text(tens))
  }

  @Test func distinctValues() {
    let numbers = chest.numbers.distinct()
    #expect(text(numbers.sectioned(by: { $0 / 10 })) == "1: 10 11, 2: 22, 3: 31 32")
    #expect(text(chest.scores.distinct().sectioned(by: { $0 % 2 })) == "1: 3 7")
  }

  @Test func whatCanBeAskedOfThem() {
    let sections = chest.numbers.sectioned(by: { $0 / 10 })
    #expect(sections[IndexPath(item: 2, section: 2)] == 32)
    #expect(sections[0][1] == 11)
    #expect(sections[2].last == 32)
    #expect(sections[1].id == 2)
    #expect(sections.realm == a.realm)
    #expect(sections[0].realm == a.realm)
    #expect(sections.description.contains("SectionedResults<Int, Int> ("))
    #expect(sections.flatMap { $0 } == chest.numbers.sorted())
  }

  @Test func theyAreLive() throws {
    var asked: [Int] = []
    let sections = chest.numbers.sectioned(
      by: { number -> Int in
        asked.append(number)
        return number / 10
      })
    #expect(sections.count == 3)
    #expect(asked == [10, 11, 22, 31, 31, 32])
    asked = []
    try a.write {
      chest.numbers.append(12)
      #expect(text(sections) == "1: 10 11 12, 2: 22, 3: 31 31 32")
      chest.numbers.remove(at: 2)
      #expect(text(sections) == "1: 10 11 12, 3: 31 31 32")
    }
    #expect(text(sections) == "1: 10 11 12, 3: 31 31 32")
    // Once in the write, and once for what follows from the commit.
    #expect(asked == [12, 12])
    try a.write { a.realm.delete(chest) }
    #expect(sections.isEmpty)
    #expect(!sections.isInvalidated)
  }

  @Test func observersAreToldOfThem() throws {
    let recorder = SectionRecorder(chest.numbers.sectioned(by: { $0 / 10 })) { "\($0)" }
    a.pump()
    func change(_ body: (List<Int>) -> Void) throws -> String? {
      try b.write { body(b.chest(1)!.numbers) }
      a.pump()
      #expect(recorder.problems == [])
      return recorder.calls.last
    }
    #expect(recorder.calls == ["initial 3"])
    #expect(try change { $0.append(12) } == "-[] +[0.2] ~[] -[] +[]")
    #expect(try change { $0.append(55) } == "-[] +[3.0] ~[] -[] +[3]")
    #expect(try change { $0.remove(at: 2) } == "-[] +[] ~[] -[1] +[]")
    #expect(try change { $0[0] = 14 } == "-[1.0] +[0.3] ~[] -[] +[]")
    let calls = recorder.calls.count
    #expect(try change { $0.move(from: 0, to: 3) } != nil)
    #expect(recorder.calls.count == calls)
    #expect(try change { $0.removeAll() } == "-[] +[] ~[] -[0, 1, 2] +[]")
    try b.write { b.realm.delete(b.chest(1)!) }
    a.pump()
    #expect(recorder.calls.count == calls + 1)
  }

  @Test func oneSectionIsObserved() throws {
    let sections = chest.numbers.sectioned(by: { $0 / 10 })
    var calls: [String] = []
    let token = sections[2].observe { change in
      switch change {
      case .initial(let section): calls.append("initial \(Array(section))")
      case .update(let section, _, _, _, let came, let went):
        calls.append("\(Array(section)) \(Array(came)) \(Array(went))")
      }
    }
    a.pump()
    for change in [40, 35, 18] {
      try b.write { b.chest(1)!.numbers.append(change) }
      a.pump()
    }
    try b.write { b.chest(1)!.numbers.removeAll() }
    a.pump()
    #expect(calls == ["initial [31, 31, 32]", "[31, 31, 32, 35] [] []", "[] [] [2]"])
    token.invalidate()
  }

  @Test func objectsAmongValuesOfAnyType() throws {
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/mixture.realm")
    configuration.objectTypes = [Mixture.self]
    let (c, d) = (try Instance(configuration, shelter), try Instance(configuration, shelter))
    try d.write {
      let all = d.realm.create(Mixture.self, value: [1])
      all.values.append(objectsIn: [7, "text", .object(all), .none, 8.5])
      all.friend = all
    }
    _ = c.realm.refresh()
    let sections = c.realm.objects(Mixture.self)[0].values.sectioned(
      by: { value -> String in
        switch value {
        case .object(let object): "object \((object as? Mixture)?.friend == nil)"
        case .int, .double: "number"
        default: "\(value)".isEmpty ? "" : "other"
        }
      })
    let recorder = SectionRecorder(sections) { "\($0)" }
    c.pump()
    #expect(sections.allKeys == ["other", "number", "object false"])
    #expect(sections.map(\.count) == [2, 2, 1])
    try d.write { d.realm.objects(Mixture.self)[0].friend = nil }
    c.pump()
    #expect(recorder.calls.last == "-[] +[2.0] ~[] -[2] +[2]")
    #expect(recorder.problems == [])
    #expect(sections.allKeys.last == "object true")
  }
}
