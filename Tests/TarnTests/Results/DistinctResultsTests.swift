import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Results of objects without repeats.
struct DistinctResultsTests {
  private let shelter: Shelter
  private let a: Instance
  private let b: Instance
  private var hounds: Results<Hound> { a.realm.objects(Hound.self) }

  init() throws {
    shelter = try Shelter()
    a = try shelter.openKennel(5, 1, 3, 1)
    b = try shelter.openKennels()
  }

  /// What observers are told of a change by another instance.
  private func told(
    _ results: Results<Hound>, _ changes: (() throws -> Void)...
  ) throws -> [String] {
    let recorder = SequenceRecorder(results) { $0.text }
    a.pump()
    for change in changes {
      try b.write(change)
      a.pump()
    }
    #expect(recorder.problems.isEmpty)
    return Array(recorder.calls.dropFirst())
  }

  @Test func whatIsSortedBeforeDecides() {
    #expect(hounds.distinct(by: ["age"]).map(\.id) == [0, 1, 2])
    #expect(
      hounds.sorted(by: \.name, ascending: false).distinct(by: ["age"]).map(\.id) == [3, 2, 0])
    let sorted = hounds.distinct(by: [\.age]).sorted(by: \.age)
    #expect(sorted.map(\.id) == [1, 2, 0])
    #expect(sorted.sorted(by: \.id).map(\.id) == [0, 1, 2])
    #expect(hounds.distinct(by: ["age"]).where { $0.id > 1 }.map(\.id) == [2, 3])
    #expect(hounds.distinct(by: ["age", "id"]).count == 4)
  }

  @Test func nilIsAValueAndABrokenPathIsNone() throws {
    try a.write {
      a.hound(2)!.weight = 0
      a.hound(3)!.weight = -0.0
    }
    #expect(hounds.distinct(by: ["weight"]).map(\.id) == [0, 2])
    #expect(hounds.distinct(by: ["yard.rooms"]).isEmpty)
    try a.write {
      a.realm.add(Yard(1))
      a.hound(3)!.yard = a.yard(1)
    }
    #expect(hounds.distinct(by: ["yard.rooms"]).map(\.id) == [3])
  }

  /// Those who become equal to an earlier one go; who is not shown may do what he likes.
  @Test func observersAreToldOfTheFirst() throws {
    let calls = try told(
      hounds.distinct(by: ["age"]),
      { b.hound(2)!.age = 5 },
      { b.hound(2)!.name = "hidden" },
      { b.hound(0)!.name = "shown" },
      { b.realm.delete(b.hound(0)!) },
      { b.hound(3)!.age = 7 })
    #expect(calls == ["-[2] +[] ~[]", "-[] +[] ~[0]", "-[0] +[1] ~[]", "-[] +[2] ~[]"])
  }

  @Test func sections() throws {
    try a.write { a.hound(3)!.name = "h0" }
    let sections = hounds.distinct(by: [\.name]).sectioned(by: \.age)
    #expect(sections.allKeys == [1, 3, 5])
    let recorder = SectionRecorder(sections) { $0.text }
    a.pump()
    try b.write { b.hound(3)!.name = "h9" }
    try b.write { b.hound(0)!.name = "h1" }
    a.pump()
    #expect(recorder.problems == [])
    #expect(sections.allKeys == [1, 3, 5])
    #expect(recorder.mirror.map(\.rows) == sections.map { $0.map(\.text) })
    #expect(sections[0].map(\.id) == [3])
  }

  /// Of many elements a step moves the few that it touches: whatever tells them apart is set, and
  /// elements of the list come, go, move and are set. Now and then it touches most of them.
  @Test(arguments: Seeds.of([1, 2, 3] as [UInt64]))
  func manyElements(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    try a.write {
      for id in 4..<300 { a.realm.add(Hound(id, "h\(id % 90)", age: id % 40)) }
      for _ in 0..<500 { a.kennel.hounds.append(a.hound(numbers.below(300))!) }
    }
    let views = KennelView.all.filter { $0.name.hasPrefix("list") || $0.name.hasPrefix("class") }
    let recorders = views.map { view in (view, SequenceRecorder(view.results(a)) { $0.text }) }
    a.pump()
    for commit in 0..<25 {
      try b.write {
        for _ in 0...numbers.below(3) {
          let hound = b.hound(numbers.below(300))!
          hound.age = numbers.below(40)
          if numbers.chance(30) { hound.name = "h\(numbers.below(90))" }
          let list = b.kennel.hounds
          let (position, other) = (numbers.below(list.count), numbers.below(list.count))
          switch numbers.below(5) {
          case 0: list.remove(at: position)
          case 1: list.insert(hound, at: position)
          case 2: list.move(from: position, to: other)
          case 3: list.swapAt(position, other)
          default: list[position] = hound
          }
        }
        if commit % 10 == 9 { for id in 0..<200 { b.hound(id)!.age = id % 39 } }
      }
      a.pump()
      for (view, recorder) in recorders {
        #expect(recorder.problems == [], "\(view.name), commit \(commit)")
        #expect(recorder.mirror == view.expected(a).map(\.text), "\(view.name), commit \(commit)")
      }
    }
  }

  @Test func asOtherResults() throws {
    let distinct = hounds.distinct(by: ["age"])
    #expect(distinct == hounds.distinct(by: [\.age]))
    #expect(distinct != hounds)
    #expect(distinct.sum(of: \.age) == 9)
    #expect(distinct.last?.id == 2)
    #expect(distinct.index(of: a.hound(2)!) == 2)
    #expect(distinct.index(of: a.hound(3)!) == nil)
    #expect(distinct.index(matching: { $0.age == 3 }) == 2)
    let frozen = distinct.freeze()
    try a.write {
      a.realm.delete(distinct)
      #expect(distinct.map(\.id) == [3])
    }
    #expect(frozen.map(\.id) == [0, 1, 2])
    #expect(hounds.map(\.id) == [3])
  }
}

/// What a program is told that asks for distinct objects by what does not tell them apart.
struct DistinctTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static func row(
    _ name: String, _ message: String,
    _ use: @escaping @Sendable ((instance: Instance, hounds: Results<Hound>)) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let instance = try shelter.openKennel(1)
      use((instance, instance.realm.objects(Hound.self)))
    }
  }

  static let traps: [TrapCase] = [
    row("nothing", "distinct(by:) needs at least one property") {
      _ = $0.hounds.distinct(by: [] as [String])
    },
    row("unknown", "Invalid query on 'Hound': class 'Hound' has no property 'wings'") {
      _ = $0.hounds.distinct(by: ["age", "wings"])
    },
    row("unknown behind a link", "class 'Yard' has no property 'wings'") {
      _ = $0.hounds.distinct(by: ["yard.wings"])
    },
    row("collection", "property 'hounds' of class 'Kennel' is a collection") {
      _ = $0.instance.realm.objects(Kennel.self).distinct(by: ["hounds"])
    },
    row("link", "cannot distinguish objects by property 'yard' of class 'Hound': it is a link") {
      _ = $0.hounds.distinct(by: [\.yard])
    },
    row("an empty name", "class 'Yard' has no property ''") {
      _ = $0.hounds.distinct(by: ["yard."])
    },
    row("computed", "'yard', 'rooms', so the store cannot distinguish objects by it.") {
      _ = $0.hounds.distinct(by: [\.text])
    },
    row("unmanaged", "Only collections which are managed by a Realm") { _ in
      _ = Kennel(1).hounds.distinct(by: ["age"])
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await DistinctTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
