import TestSupport
import Testing

@testable import Tarn

/// What traps says why, and what to write instead.
struct TrunkTrapTests: TrapSuite {
  static let traps: [TrapCase] = [
    TrapCase(
      "nil of a property that is never nil",
      "'limit' is never nil, because its type is not optional: remove the condition"
    ) { _ in _ = condition { $0.limit == nil } },
    TrapCase(
      "a negative position",
      "A position of a list must be 0 or more, not -1: a filter string can use [LAST]"
    ) { _ in _ = condition { $0.ints[-1] == 1 } },
    TrapCase(
      "the count of a condition on several collections",
      "A count needs a condition on the elements of one collection"
    ) { _ in _ = condition { ($0.kids.kids.limit > 1 && $0.ints > 1).count > 1 } },
  ]

  private let folder = TemporaryFolder()

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.path as String, name] in
      try await TrunkTrapTests.traps.named(name).run(Shelter(within: path))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}

private func condition(_ typed: (Query<Trunk>) -> Query<Bool>) -> Query<Bool> { typed(.root) }
