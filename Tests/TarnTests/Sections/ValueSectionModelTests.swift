import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Sections of lists, sets and maps of values under random changes by two instances: they are what
/// grouping an array gives, and the differences lead from state to state.
struct ValueSectionModelTests {
  @Test(arguments: Array(1...10) as [UInt64])
  func randomChanges(seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.openChests(), try shelter.openChests())
    try b.write { b.realm.add(Chest(1)) }
    var operations = ChestOperations(seed: seed)
    a.pump()
    let (kept, unobserved) = (views(a.chest(1)!), views(a.chest(1)!))
    let own = views(try #require(b.chest(1)))
    let stops = kept.map { $0.observe() }
    a.pump()
    for commit in 0..<60 {
      try b.write {
        for _ in 0...operations.numbers.below(6) {
          operations.apply(to: b.chest(1)!, [])
          if operations.numbers.chance(15) { check(own, "write \(commit)") }
        }
      }
      if operations.numbers.chance(60) { a.pump() }
      if operations.numbers.chance(15) {
        try a.write {
          for _ in 0..<3 { operations.apply(to: a.chest(1)!, []) }
          check(kept, "own write \(commit)")
        }
        a.pump()
        _ = b.realm.refresh()
      }
      if operations.numbers.chance(15) { check(unobserved, "after \(commit)") }
    }
    a.pump()
    check(kept + unobserved + own, "end")
    for (view, stop) in zip(kept, stops) { #expect(stop() == [], "\(view.name)") }
    try b.write { operations.apply(to: b.chest(1)!, []) }
    a.pump()
    check(kept, "unobserved")
  }

  private func check(_ views: [ValueSectionView], _ when: String) {
    for view in views { view.check(when) }
  }

  private func views(_ chest: Chest) -> [ValueSectionView] {
    [
      ValueSectionView("tens", chest.numbers.sectioned(by: { $0 / 100 })) { $0 / 100 },
      ValueSectionView("rest", chest.numbers.sectioned(by: { $0 % 5 }, ascending: false)) {
        $0 % 5
      },
      ValueSectionView("distinct", chest.numbers.distinct().sectioned(by: { $0 % 7 })) { $0 % 7 },
      ValueSectionView("words", chest.words.sectioned(by: { $0?.count })) { $0?.count },
      ValueSectionView("tags", chest.tags.sectioned(by: \.count)) { $0.count },
      ValueSectionView("scores", chest.scores.sorted().sectioned(by: { $0 % 3 })) { $0 % 3 },
    ]
  }
}

/// Sections of some values, with what they are to show.
private struct ValueSectionView {
  let name: String
  /// Compares what is shown with the grouped elements of the sorted results.
  let check: (String) -> Void
  /// Begins to observe.
  ///
  /// - Returns: what ends that, and tells what was wrong.
  let observe: () -> () -> [String]

  init<Key, E>(
    _ name: String, _ sections: SectionedResults<Key, E>, _ key: @escaping (E) -> Key
  ) {
    let results = sections.results
    self.name = name
    func expected() -> [(key: SectionKey<Key>, rows: [String])] {
      grouped(Array(results), key) { "\($0)" }
    }
    check = { when in
      let expected = expected()
      let hasKeys = sections.allKeys.map { SectionKey($0) } == expected.map(\.key)
      #expect(hasKeys, "\(name), \(when)")
      let shown = sections.map { $0.map { "\($0)" } }
      #expect(shown == expected.map(\.rows), "\(name), \(when)")
    }
    observe = {
      let recorder = SectionRecorder(sections) { "\($0)" }
      return {
        recorder.token?.invalidate()
        let isUpToDate = recorder.mirror.map(\.rows) == expected().map(\.rows)
        let isTold = recorder.calls.count > 1
        return recorder.problems + (isUpToDate ? [] : ["mirror"]) + (isTold ? [] : ["silent"])
      }
    }
  }
}
