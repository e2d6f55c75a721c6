import TestSupport
import Testing

@testable import TarnDaemon

struct BackoffTests {
  @Test func doublesUpToTheLongest() {
    var backoff = Backoff(first: .seconds(1), last: .seconds(10))
    for longest in [1, 2, 4, 8, 10, 10] {
      let wait = backoff.next()
      #expect(wait <= .seconds(longest))
      #expect(wait >= .seconds(longest) / 2)
    }
    backoff.reset()
    #expect(backoff.next() <= .seconds(1))
  }

  @Test func slotsAreGivenToThoseWhoWait() {
    let slots = Slots(1)
    let calls = Calls()
    #expect(slots.take {})
    #expect(!slots.take { calls.add() })
    #expect(calls.count == 0)
    slots.give()
    #expect(calls.count == 1)
    #expect(slots.take {})
  }
}

private final class Calls: @unchecked Sendable {  // because: on one thread
  private(set) var count = 0
  func add() { count += 1 }
}
