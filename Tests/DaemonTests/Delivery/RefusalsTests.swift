import TestSupport
import Testing

@testable import TarnDaemon

/// What is made smaller, and what is given up.
struct RefusalsTests {
  @Test func dividesBeforeItGivesUp() {
    var refusals = Refusals(attemptsMax: 2)
    func refused(_ versions: ClosedRange<UInt64>, _ isFinal: Bool = false) -> Refusals.Verdict {
      refusals.refused(isFinal: isFinal, versions, isDivisible: true)
    }
    func limit(after version: UInt64) -> UInt64? { refusals.limit(after: version) }
    func refusedObject(_ isFinal: Bool = false) -> Bool { refusals.refusedObject(isFinal: isFinal) }
    #expect([refused(1...9), refused(1...9)] == [.again, .commits])
    #expect(limit(after: 1) == 5)
    // Its parts are not tried again and again.
    #expect(refused(1...5) == .commits)
    #expect(limit(after: 1) == 3)
    #expect(limit(after: 3) == 5)
    #expect(refused(3...4) == .objects)
    #expect([refusedObject(), refusedObject()] == [false, true])
    refusals.isDone()
    #expect(refusedObject(true))
    #expect(limit(after: 5) == 9)
    #expect(refusals.isDividing)
    #expect(limit(after: 9) == nil)
    #expect(!refusals.isDividing)
  }

  @Test func aBatchOfOneCommitIsDividedAtOnce() {
    var refusals = Refusals(attemptsMax: 1)
    let verdicts = [
      refusals.refused(isFinal: false, 2...3, isDivisible: true),
      refusals.refused(isFinal: false, 2...9, isDivisible: false),
    ]
    #expect(verdicts == [.objects, .objects])
    #expect(!refusals.isDividing)
  }

  /// Whatever commits there are and whichever are refused: each is taken or divided once, in order,
  /// and only those are divided that are refused alone.
  @Test(arguments: Seeds.of(1...500, first: 50))
  func findsTheCommits(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let count = UInt64(1 + random.below(300))
    let share = random.below(10)
    let refused = Set((1...count).filter { _ in random.chance(share) })
    let isFinal = random.chance(50)
    var refusals = Refusals(attemptsMax: 1 + random.below(3))
    var (place, divided, requests): (UInt64, Set<UInt64>, Int) = (0, [], 0)
    while place < count {
      let end = refusals.limit(after: place) ?? count
      requests += 1
      if refused.isDisjoint(with: place + 1...end) {
        place = end
        refusals.isDone()
        continue
      }
      let verdict = refusals.refused(isFinal: isFinal, place...end, isDivisible: true)
      if verdict == .objects {
        #expect(end == place + 1)
        divided.insert(end)
        place = end
      }
    }
    #expect(divided == refused)
    #expect(requests <= 2 + refusals.attemptsMax + 2 * 9 * refused.count)
  }
}
