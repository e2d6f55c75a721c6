import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Results of lists, sets, maps and backlinks under random changes by another instance: they show
/// what going through the collection gives, and the differences lead from state to state.
struct DerivedModelTests {
  @Test(arguments: Seeds.of(Array(1...12) as [UInt64]))
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
    let views = KennelView.all
    let kept = views.map { $0.results(a) }
    let recorders = kept.map { SequenceRecorder($0) { $0.text } }
    a.pump()
    for commit in 0..<60 {
      try b.write {
        for _ in 0...operations.numbers.below(6) {
          operations.apply(to: b)
          if operations.numbers.chance(10) { check(views, b, "write \(commit)") }
        }
      }
      if operations.numbers.chance(60) { a.pump() }
      if operations.numbers.chance(10) {
        try a.write { for _ in 0..<3 { operations.apply(to: a) } }
        a.pump()
      }
    }
    a.pump()
    check(views, a, "end")
    for (index, recorder) in recorders.enumerated() {
      let name = views[index].name
      #expect(recorder.problems.isEmpty, "\(name): \(recorder.problems.first ?? "")")
      #expect(recorder.mirror == views[index].expected(a).map(\.text), "\(name)")
      #expect(recorder.calls.count > 1, "\(name)")
      #expect(kept[index].map(\.id) == views[index].expected(a).map(\.id), "\(name)")
    }
  }

  /// Without observers: results that are kept and asked now and then.
  @Test(arguments: Seeds.of([21, 22, 23] as [UInt64]))
  func unobserved(seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.openKennels(), try shelter.openKennels())
    try b.write {
      b.realm.add(Kennel(1))
      for id in 0..<3 { b.realm.add(Yard(id)) }
    }
    var operations = KennelOperations(numbers: SeededRandom(seed: seed))
    _ = a.realm.refresh()
    let kept = KennelView.all.map { $0.results(a) }
    for _ in 0..<60 {
      try b.write { for _ in 0..<4 { operations.apply(to: b) } }
      _ = a.realm.refresh()
      guard operations.numbers.chance(40) else { continue }
      for (view, results) in zip(KennelView.all, kept) {
        #expect(results.map(\.text) == view.expected(a).map(\.text), "\(view.name)")
      }
    }
  }

  private func check(_ views: [KennelView], _ instance: Instance, _ moment: String) {
    for view in views {
      let results = view.results(instance)
      let expected = view.expected(instance)
      #expect(results.map(\.text) == expected.map(\.text), "\(view.name), \(moment)")
      #expect(results.count == expected.count)
      #expect(results.last?.id == expected.last?.id)
      #expect(results.sum(of: \.age) == expected.reduce(0) { $0 + $1.age })
      #expect(results.max(of: \.age) == expected.map(\.age).max())
      guard let some = expected.last else { continue }
      #expect(results.index(of: some) == expected.firstIndex { $0.id == some.id })
      let named = results.index(matching: { $0.name == some.name })
      #expect(named == expected.firstIndex { $0.name == some.name })
    }
  }
}
