import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Results of values under random changes by another instance: they show what sorting an array
/// gives, and the differences lead from state to state.
struct ValueModelTests {
  @Test(arguments: Array(1...10) as [UInt64])
  func randomChanges(seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.openChests(), try shelter.openChests())
    try b.write { b.realm.add(Chest(1)) }
    var operations = ChestOperations(seed: seed)
    a.pump()
    let views = ValueView.all
    let chest = a.chest(1)!
    let recorders = views.map { $0.record(chest) }
    a.pump()
    for commit in 0..<60 {
      try b.write {
        for _ in 0...operations.numbers.below(6) {
          operations.apply(to: b.chest(1)!, [])
          guard operations.numbers.chance(10) else { continue }
          for view in views { view.check(b.chest(1)!, "write \(commit)") }
        }
      }
      if operations.numbers.chance(60) { a.pump() }
      if operations.numbers.chance(20) { for view in views { view.check(chest, "\(commit)") } }
    }
    a.pump()
    for (view, recorder) in zip(views, recorders) {
      view.check(chest, "end")
      #expect(recorder.problems().isEmpty, "\(view.name): \(recorder.problems())")
      #expect(recorder.isUpToDate(), "\(view.name)")
    }
  }
}

/// Results of a chest's values, with what they are to show.
private struct ValueView {
  let name: String
  let check: (Chest, String) -> Void
  let record: (Chest) -> Recorder

  struct Recorder {
    let problems: () -> [String]
    let isUpToDate: () -> Bool
  }

  init<E>(
    _ name: String, _ results: @escaping (Chest) -> Results<E>,
    _ expected: @escaping (Chest) -> [E]
  ) {
    self.name = name
    check = { chest, moment in
      let expected = expected(chest)
      let results = results(chest)
      #expect(Array(results) == expected, "\(name), \(moment)")
      #expect(results.count == expected.count)
      #expect(results.last == expected.last)
      guard let some = expected.last else { return }
      #expect(results.index(of: some) == expected.firstIndex(of: some))
    }
    record = { chest in
      let recorder = SequenceRecorder(results(chest)) { "\($0)" }
      return Recorder(
        problems: { recorder.problems },
        isUpToDate: { recorder.mirror == expected(chest).map { "\($0)" } })
    }
  }

  private static func precedes(_ a: String?, _ b: String?) -> Bool {
    guard let b else { return false }
    guard let a else { return true }
    return a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  /// The first of each.
  private static func first<E: Hashable>(_ elements: some Sequence<E>) -> [E] {
    var seen: Set<E> = []
    return elements.filter { seen.insert($0).inserted }
  }

  static var all: [ValueView] {
    [
      ValueView("sorted", { $0.numbers.sorted(ascending: true) }, { $0.numbers.sorted() }),
      ValueView("reversed", { $0.numbers.sorted(ascending: false) }, { $0.numbers.sorted(by: >) }),
      ValueView("distinct", { $0.numbers.distinct() }, { first($0.numbers) }),
      ValueView(
        "distinct, then sorted", { $0.numbers.distinct().sorted(ascending: true) },
        { Set($0.numbers).sorted() }),
      ValueView("words", { $0.words.sorted() }, { $0.words.sorted(by: precedes) }),
      ValueView(
        "words, the other way round", { $0.words.sorted(ascending: false).distinct() },
        { first($0.words.sorted { precedes($1, $0) }) }),
      ValueView(
        "set", { $0.tags.sorted(ascending: false) }, { $0.tags.sorted { precedes($1, $0) } }),
      ValueView("map", { $0.scores.sorted(ascending: true) }, { $0.scores.values.sorted() }),
      ValueView("map, distinct", { $0.scores.distinct() }, { first($0.scores.values) }),
      ValueView(
        "window, sorted", { $0.numbers.sorted(ascending: true).window(2..<6) },
        { Array($0.numbers.sorted().dropFirst(2).prefix(4)) }),
      ValueView("first ones", { $0.words.limit(3) }, { Array($0.words.prefix(3)) }),
    ]
  }
}
