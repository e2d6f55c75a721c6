import TestSupport
import Testing

@testable import TarnStore

/// Random writes against a dictionary: what the store shows after each commit, what it says has
/// changed, and what its indexes and its row counts hold.
struct StoreModelTests {
  @Test(arguments: Seeds.of([1, 2, 3, 4, 5, 6, 7, 8]))
  func everyCommitShowsExactlyWhatTheModelHolds(seed: UInt64) throws {
    let file = TemporaryStore()
    var run = try ModelRun(seed: seed, store: file.open(ModelRun.classes))
    for _ in 0..<60 { try run.commitSomething() }
    try run.checkAll()
  }

  @Test func aStoreOpenedAgainShowsTheSame() throws {
    let file = TemporaryStore()
    var run = try ModelRun(seed: 99, store: file.open(ModelRun.classes))
    for _ in 0..<20 { try run.commitSomething() }
    let model = run.model
    let version = run.version
    run.letGo()
    let again = try file.open(ModelRun.classes)
    #expect(try again.newestSnapshot().version == version)
    try ModelRun(seed: 1, store: again, model: model).checkAll()
  }

  @Test func aClearedClassIsEmptyAndItsKeysAreNotGivenAgain() throws {
    let file = TemporaryStore()
    let store = try file.open(ModelRun.classes)
    let first = try store.write { session in try session.insert(nil, in: ModelRun.pets).key }
    try store.write { session in try session.clear(ModelRun.pets) }
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.record(of: ModelRun.pets).rowCount == 0)
    let second = try store.write { session in try session.insert(nil, in: ModelRun.pets).key }
    #expect(second > first)
  }
}
