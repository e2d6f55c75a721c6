import TestSupport
import Testing

@testable import TarnStore

@Suite("Merging change sets as they are read")
struct ChangeFoldTests {
  private static let id = ClassID(3)

  struct History: CustomTestStringConvertible {
    let reuses: Bool
    let clears: Bool
    var testDescription: String { "keys reused: \(reuses), cleared: \(clears)" }
  }

  private static let histories = [false, true].flatMap { reuses in
    [false, true].map { History(reuses: reuses, clears: $0) }
  }

  @Test("gives what happened, however many are replayed at once", arguments: histories)
  func equalsWhatHappened(_ history: History) {
    for seed in Seeds.of(UInt64(0)..<60) {
      var random = SeededRandom(seed: seed)
      var model = FateModel()
      var moments = [0]
      for _ in 0..<200 {
        for _ in 0..<random.below(6) {
          model.apply(
            model.randomOperation(
              keys: 24, reuses: history.reuses, clears: history.clears, &random))
        }
        moments.append(model.moment)
      }
      let steps = zip(moments, moments.dropFirst()).filter(<).map {
        model.changeSet(Self.id, from: $0, to: $1)
      }
      let expected = model.changeSet(Self.id, from: 0, to: moments[moments.count - 1])
      for size in [1, 2, 7, 65, 4096] {
        var fold = ChangeFold(after: .zero, replayingAt: size)
        for step in steps { fold.add(step) }
        #expect(fold.finish() == expected, "seed \(seed), \(size) at once")
      }
    }
  }

  @Test("leaves out what is skipped")
  func skips() {
    func inserting(_ key: Int64, _ version: UInt64) -> ChangeSet {
      var changes = ClassChanges(id: Self.id)
      changes.inserted = KeySet(ObjectKey(key))
      return ChangeSet(from: Version(version), to: Version(version + 1), classes: [changes])
    }
    var fold = ChangeFold(after: Version(4))
    fold.add(inserting(1, 4))
    fold.skip(to: Version(6))
    fold.add(inserting(2, 6))
    let merged = fold.finish()
    #expect(merged.from == Version(4))
    #expect(merged.to == Version(7))
    #expect(merged[Self.id]?.inserted == KeySet([ObjectKey(1), ObjectKey(2)]))
  }

  @Test("of nothing is empty")
  func nothing() {
    var fold = ChangeFold(after: Version(4))
    fold.skip(to: Version(9))
    #expect(fold.finish() == ChangeSet(from: Version(4), to: Version(9)))
  }
}
