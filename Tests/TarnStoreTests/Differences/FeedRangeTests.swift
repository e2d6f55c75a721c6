import TestSupport
import Testing

@testable import TarnStore

/// Which commits a range has.
@Suite struct FeedRangeTests {
  private let folder = TemporaryStore()
  private let store: Store
  /// Keeps the change records.
  private let first: Snapshot

  init() throws {
    let crates = ClassDefinition(name: "Crate", properties: [.init(name: "name", type: .string)])
    store = try folder.open([crates])
    first = try store.newestSnapshot()
  }

  private func add(_ count: Int) throws {
    for _ in 0..<count { try store.write { _ = try $0.create([:], in: ClassID(0)) } }
  }

  private func range(_ limit: FeedRange.Limit = .init()) throws -> FeedRange {
    var range = FeedRange(after: first.version, commitID: first.head.commitID)
    let newest = try store.newestSnapshot()
    try range.extend(upTo: newest.version, limit, tellsAllDeaths: false, in: newest)
    return range
  }

  @Test func allCommits() throws {
    try add(5)
    let range = try range()
    let newest = try store.newestSnapshot().head
    #expect(range.to == newest.version)
    #expect(range.commitID == newest.commitID)
    #expect(range.commits == 5)
    #expect(range.bytes > 0)
    #expect(range.changes[ClassID(0)]?.inserted.count == 5)
  }

  @Test func aLimitOfCommits() throws {
    try add(5)
    #expect(try range(.init(commits: 3)).commits == 3)
  }

  @Test func aLimitOfBytesHasAtLeastOneCommit() throws {
    try add(5)
    #expect(try range(.init(bytes: 1)).commits == 1)
    let two = try range(.init(commits: 2)).bytes
    #expect(try range(.init(bytes: two)).commits == 2)
  }

  @Test func aRangeGoesOn() throws {
    try add(5)
    var part = try range(.init(commits: 2))
    let newest = try store.newestSnapshot()
    try part.extend(upTo: newest.version, tellsAllDeaths: false, in: newest)
    #expect(part.changes == (try range().changes))
    #expect(part.commits == 5)
  }

  @Test func aMigrationEndsIt() throws {
    try add(2)
    try store.write { $0.recorder.changeSchema() }
    try add(2)
    let range = try range()
    #expect(range.commits == 2)
    #expect(range.endsBeforeMigration)
  }

  /// Objects that came and went are among the dead only if they may have been told.
  @Test func theDeadOfARepeatedRange() throws {
    try add(1)
    let newest = try store.newestSnapshot()
    let key = try #require(
      try ChangeLog.record(of: newest.version, in: newest.transaction).changes[ClassID(0)]?
        .inserted.first)
    try store.write { _ = try $0.delete(key, in: ClassID(0)) }
    #expect(try range().deaths[ClassID(0)]?.keys.isEmpty ?? true)
    var repeated = FeedRange(after: first.version, commitID: first.head.commitID)
    let end = try store.newestSnapshot()
    try repeated.extend(upTo: end.version, tellsAllDeaths: true, in: end)
    #expect(repeated.deaths[ClassID(0)].map { Array($0.keys) } == [key])
    #expect(repeated.changes.isEmpty)
  }

  /// Objects that came after that are not among those that a class had before.
  @Test func theFormerObjectsOfAClearedClass() throws {
    try add(3)
    let before = try store.newestSnapshot()
    let keys = try SnapshotReader(before).allKeys(in: ClassID(0))
    store.keepBefore { _ in .keys }
    try store.write { _ = try $0.delete(keys[0], in: ClassID(0)) }
    try add(2)
    for _ in 1...2 {
      try store.write { try $0.clear(ClassID(0)) }
      try add(2)
    }
    let newest = try store.newestSnapshot()
    for isSplit in [false, true] {
      var range = FeedRange(after: before.version, commitID: before.head.commitID)
      if isSplit {
        try range.extend(
          upTo: newest.version, FeedRange.Limit(commits: 4), tellsAllDeaths: false, in: newest)
      }
      try range.extend(upTo: newest.version, tellsAllDeaths: false, in: newest)
      #expect(range.changes[ClassID(0)]?.isCleared == true)
      #expect(range.deaths[ClassID(0)]?.former == KeySet(keys))
    }
  }
}
