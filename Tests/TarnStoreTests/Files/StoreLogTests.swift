import Testing

@testable import TarnStore

@Suite struct StoreLogTests {
  /// Each message used to wrap the hook once more, until calling it overflowed the stack.
  @Test func aProgramMayLogForever() {
    let log = StoreLog()
    let count = Lock(0)
    log.setHook { _, _ in count.withLock { $0 += 1 } }
    for _ in 0..<100_000 { log.write(.debug, "a message") }
    #expect(count.withLock { $0 } == 100_000)
  }
}
