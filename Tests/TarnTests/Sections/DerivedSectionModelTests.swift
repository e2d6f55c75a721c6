import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Sections of lists, sets, maps and backlinks under random changes by two instances.
struct DerivedSectionModelTests {
  private typealias Sections = SectionedResults<Int, Hound>

  private static func key(_ hound: Hound) -> Int { hound.age % 3 + 10 * (hound.yard?.rooms ?? 9) }

  private static func byAge(_ hound: Hound) -> Int { hound.age }

  @Test(arguments: Seeds.of(Array(1...10) as [UInt64]))
  func randomChanges(seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.openKennels(), try shelter.openKennels())
    try b.write {
      b.realm.add(Kennel(1))
      for id in 0..<3 { b.realm.add(Yard(id)) }
    }
    var operations = KennelOperations(numbers: SeededRandom(seed: seed))
    try b.write { for _ in 0..<60 { operations.apply(to: b) } }
    a.pump()
    func sections(_ instance: Instance) -> [Sections] {
      let distinct = [
        instance.realm.objects(Hound.self).sorted(by: \.id).distinct(by: ["name"]),
        instance.kennel.hounds.distinct(by: ["age", "yard.rooms"]),
      ]
      return (KennelView.all.map { $0.results(instance) } + distinct).flatMap { results in
        [
          results.sectioned(by: Self.key, sortDescriptors: ["name"]),
          results.sectioned(by: \.age, sortDescriptors: ["age", "id"]),
        ]
      }
    }
    let (kept, unobserved) = (sections(a), sections(b))
    let recorders = kept.map { SectionRecorder($0) { $0.text } }
    a.pump()
    for commit in 0..<60 {
      try b.write {
        for _ in 0...operations.numbers.below(6) {
          operations.apply(to: b)
          if operations.numbers.chance(10) { check(unobserved, "write \(commit)") }
        }
      }
      if operations.numbers.chance(60) { a.pump() }
      if operations.numbers.chance(10) {
        try a.write {
          for _ in 0..<3 { operations.apply(to: a) }
          check(kept, "own write \(commit)")
        }
        a.pump()
      }
      if operations.numbers.chance(10) { check(unobserved, "after \(commit)") }
    }
    a.pump()
    check(kept, "end")
    for (index, recorder) in recorders.enumerated() {
      #expect(recorder.problems == [], "\(index)")
      #expect(recorder.mirror.map(\.rows) == kept[index].map { $0.map(\.text) }, "\(index)")
      #expect(recorder.calls.count > 1, "\(index)")
    }
  }

  private func check(_ all: [Sections], _ when: String) {
    for (index, sections) in all.enumerated() {
      let key = index % 2 == 0 ? Self.key : Self.byAge
      let expected = grouped(Array(sections.results), key) { $0.text }
      #expect(sections.allKeys == expected.map(\.key.key), "\(index) \(when)")
      #expect(sections.map { $0.map(\.text) } == expected.map(\.rows), "\(index) \(when)")
    }
  }
}
