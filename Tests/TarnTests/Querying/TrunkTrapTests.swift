import TestSupport
import Testing

@testable import Tarn

/// What traps says why, and what to write instead.
struct TrunkTrapTests {
  @Test func nilOfWhatIsNeverNil() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = condition { $0.limit == nil }
    }
    expect(
      result, "'limit' is never nil, because its type is not optional: leave the condition out")
  }

  @Test func negativePositions() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = condition { $0.ints[-1] == 1 }
    }
    expect(
      result, "A position of a list is 0 or more, not -1: a filter written as text says [LAST]")
  }

  @Test func theCountOfConditionsOnSeveralCollections() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = condition { ($0.kids.kids.limit > 1 && $0.ints > 1).count > 1 }
    }
    expect(result, "Only a condition on the elements of one collection has a count")
  }

  private func expect(_ result: ExitTest.Result?, _ message: String) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(message), "\(said)")
  }
}

private func condition(_ typed: (Query<Trunk>) -> Query<Bool>) -> Query<Bool> { typed(.root) }
