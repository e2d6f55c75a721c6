import Testing

@testable import TarnDaemon

struct SlotsTests {
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
