import TestSupport
import Testing

@testable import TarnDaemon

/// What is made smaller, and what is given up.
struct RefusalsTests {
  @Test func dividesBeforeItGivesUp() {
    var refusals = Refusals(attemptsMax: 2)
    func refused(_ isFinal: Bool = false, upTo version: UInt64 = 9) -> Refusals.Verdict {
      refusals.refused(isFinal: isFinal, upTo: version, isOneCommit: false)
    }
    #expect([refused(), refused()] == [.again, .smaller])
    #expect(refusals.size == .commit)
    refusals.delivered(upTo: 4)
    #expect(refusals.size == .commit)
    #expect(refused(true, upTo: 5) == .smaller)
    #expect([refused(upTo: 5), refused(upTo: 5)] == [.again, .giveUp])
    refusals.isDone()
    #expect(refused(true, upTo: 5) == .giveUp)
    refusals.delivered(upTo: 5)
    #expect(refusals.size == .commit)
    refusals.delivered(upTo: 9)
    #expect(refusals.size == .batch)
  }

  @Test func aBatchOfOneCommitIsDividedAtOnce() {
    var refusals = Refusals(attemptsMax: 1)
    #expect(refusals.refused(isFinal: false, upTo: 3, isOneCommit: true) == .smaller)
    #expect(refusals.size == .object)
    refusals.delivered(upTo: 3)
    #expect(refusals.size == .batch)
  }

  /// Whatever commits there are and whatever is refused: each object is taken or given up once, in
  /// order, and only those are given up that are refused alone.
  @Test(arguments: Seeds.of(1...500, first: 50))
  func givesUpWhatIsRefusedAlone(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    // The objects of each commit.
    let commits = (0..<1 + random.below(12)).map { _ in
      (0..<1 + random.below(4)).map { _ in random.below(1_000) }
    }
    let share = random.below(100)
    let refused = Set((0..<1_000).filter { _ in random.chance(share) })
    let isFinal = random.chance(50)
    var refusals = Refusals(attemptsMax: 1 + random.below(3))
    var (place, taken, letters): (Int, [Int], [Int]) = (0, [], [])
    while place < commits.count {
      // More is committed while a batch is tried again.
      let end =
        refusals.size == .batch ? place + 1 + random.below(commits.count - place) : place + 1
      let batch = commits[place..<end].flatMap { $0 }
      if refusals.size == .object {
        for object in batch {
          while refused.contains(object) {
            let verdict = refusals.refused(
              isFinal: isFinal, upTo: UInt64(end), isOneCommit: true)
            #expect(verdict != .smaller)
            if verdict == .giveUp {
              letters.append(object)
              break
            }
          }
          if !refused.contains(object) { taken.append(object) }
          refusals.isDone()
        }
      } else if refused.isDisjoint(with: batch) {
        taken += batch
      } else {
        let verdict = refusals.refused(
          isFinal: isFinal, upTo: UInt64(end), isOneCommit: end == place + 1)
        #expect(verdict != .giveUp)
        continue
      }
      place = end
      refusals.delivered(upTo: UInt64(end))
    }
    let all = commits.flatMap { $0 }
    #expect(taken == all.filter { !refused.contains($0) })
    #expect(letters == all.filter { refused.contains($0) })
  }
}
