import TarnStore
import Testing

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
}
