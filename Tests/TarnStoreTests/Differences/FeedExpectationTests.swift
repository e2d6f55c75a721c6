import TestSupport
import Testing

@testable import TarnStore

/// How the position that a consumer kept compares with the file.
@Suite struct FeedExpectationTests {
  private let folder = TemporaryStore()
  private let store: Store
  /// Keeps the change records.
  private let first: Snapshot
  private let acknowledged: FeedPlace

  init() throws {
    store = try folder.open()
    try store.write { _ in }
    first = try store.newestSnapshot()
    acknowledged = FeedPlace(first.head)
  }

  private func compare(_ expected: FeedPlace) throws -> FeedExpectation {
    let state = FeedState(acknowledged: acknowledged, reason: nil)
    return try FeedExpectation(expected, with: state, in: store.newestSnapshot())
  }

  private func commit() throws -> FeedPlace {
    try store.write { _ in }
    return FeedPlace(try store.newestSnapshot().head)
  }

  @Test func theAcknowledgedPositionAgrees() throws {
    #expect(try compare(acknowledged) == .agrees)
    _ = try commit()
    #expect(try compare(acknowledged) == .agrees)
  }

  @Test func laterPositionsAreAhead() throws {
    let (second, third) = (try commit(), try commit())
    #expect(try compare(second) == .isAhead)
    #expect(try compare(third) == .isAhead)
  }

  @Test func positionsOfOtherFilesAreElsewhere() throws {
    var (second, third) = (try commit(), try commit())
    second.commitID &+= 1
    #expect(try compare(second) == .isElsewhere)
    third.commitID &+= 1
    #expect(try compare(third) == .isElsewhere)
    var other = acknowledged
    other.historyID.low &+= 1
    #expect(try compare(other) == .isElsewhere)
    var later = acknowledged
    later.version = third.version.next
    #expect(try compare(later) == .isElsewhere)
    var same = acknowledged
    same.commitID &+= 1
    #expect(try compare(same) == .isElsewhere)
  }

  @Test func earlierPositionsAreElsewhere() throws {
    let second = try commit()
    let state = FeedState(acknowledged: second, reason: nil)
    let found = try FeedExpectation(acknowledged, with: state, in: store.newestSnapshot())
    #expect(found == .isElsewhere)
  }
}
