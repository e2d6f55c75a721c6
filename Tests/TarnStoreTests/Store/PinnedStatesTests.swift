import Glibc
import TestSupport
import Testing

@testable import TarnStore

/// What readers of old states keep from being used again, and who they are.
@Suite struct PinnedStatesTests {
  private let folder = TemporaryStore()
  private let store: Store
  private let id = ClassID(0)

  init() throws {
    store = try folder.open([
      ClassDefinition(name: "Note", properties: [.init(name: "text", type: .string)])
    ])
    try store.write { session in
      for number in 0..<200 {
        try session.create([ColumnID(0): .string(text(number))], in: id)
      }
    }
  }

  private func text(_ number: Int) -> String { String(repeating: "n\(number) ", count: 30) }

  private func change(_ count: Int) throws {
    for number in 0..<count {
      try store.write { session in
        let key = ObjectKey(Int64(number % 200))
        try session.set(ColumnID(0), at: key, in: id, to: .string(text(number + 1)))
      }
    }
  }

  @Test func `a state that is read has an owner, an age, and pages that are kept for it`() throws {
    let before = CommitNote.now
    let pin = try store.newestSnapshot()
    try change(100)
    let newest = try store.newestSnapshot()
    let states = try store.pinnedStates()
    let oldest = try #require(states.first)
    #expect(oldest.process.processID == getpid())
    #expect(oldest.commitsBehind == 100)
    #expect(oldest.versionsBehind == 100)
    #expect(oldest.since.map { before...CommitNote.now ~= $0 } == true)
    // Each commit has freed some pages, and the next cannot use them.
    let pages = oldest.keptBytes / store.environment.pageSize
    #expect(pages >= 100)
    #expect(try store.environment.verifyPages().freePages >= pages)
    let last = try #require(states.last)
    #expect((last.commitsBehind, last.versionsBehind, last.keptBytes) == (0, 0, 0))
    #expect(last.since == nil)
    #expect(try store.pinnedStates(ofOthers: true).isEmpty)
    withExtendedLifetime((pin, newest)) {}
  }

  @Test func `what is kept is what the file grows by`() throws {
    try change(50)
    let pin = try store.newestSnapshot()
    let before = store.environment.statistics.pageCount
    try change(120)
    let kept = try #require(store.pinnedStates().first).keptBytes / store.environment.pageSize
    let growth = store.environment.statistics.pageCount - before
    #expect(growth > 120)
    // The pages that were free before were used first.
    #expect(abs(growth - kept) < 60, "\(growth) pages more, \(kept) kept")
    withExtendedLifetime(pin) {}
  }

  @Test func `pages are not kept without an old state`() throws {
    try change(50)
    let after = store.environment.statistics.pageCount
    try change(120)
    #expect(store.environment.statistics.pageCount < after + 30)
    #expect(try store.pinnedStates().allSatisfy { $0.keptBytes == 0 })
  }

  @Test func `the log warns when it begins and each time that it has doubled`() throws {
    store.pinWatch.withLock { $0.warnAt = 100_000 }
    let pin = try store.newestSnapshot()
    #expect(store.pinWarning() == nil)
    var warnings: [String] = []
    var kept: [Int] = []
    for _ in 0..<25 {
      try change(12)
      guard let warning = store.pinWarning() else { continue }
      warnings.append(warning)
      kept.append(try #require(store.pinnedStates().first).keptBytes)
    }
    #expect(warnings.count >= 2)
    let least = try #require(kept.first)
    #expect(least >= 100_000)
    for (earlier, later) in zip(kept, kept.dropFirst()) { #expect(later >= 2 * earlier) }
    let first = try #require(warnings.first)
    #expect(first.contains("this process has been reading an old version for "), "\(first)")
    #expect(first.contains("\(least) bytes"))
    withExtendedLifetime(pin) {}
  }

  /// The wall clock was set back by an hour after the commit, or ahead.
  @Test(arguments: [-3_600_000_000, 3_600_000_000])
  func `jumps of the wall clock do not change for how long a state has been read`(
    _ jump: Int64
  ) {
    let start: Int64 = 1_700_000_000_000_000
    let note = CommitNote(time: start, stamp: 1, age: 50_000_000, logBytes: 0)
    let newest = CommitNote(
      after: note, at: start + jump, elapsed: 7_000_000, cursors: [], origin: "")
    let age = newest.age(at: start + 2 * jump, elapsed: 5_000_000)
    #expect(PinnedState.seconds(from: note, toAge: age) == 12)
    #expect(PinnedState.seconds(from: note, toAge: nil) == nil)
  }

  @Test func `a state is read since the commit after it`() throws {
    let pin = try store.newestSnapshot()
    try change(1)
    let state = try #require(try store.pinnedStates().first)
    #expect(try #require(state.seconds) < 60)
    withExtendedLifetime(pin) {}
  }

  @Test func `a released state is free to warn of again`() throws {
    store.pinWatch.withLock { $0.warnAt = 100_000 }
    for _ in 0..<2 {
      var pin: Snapshot? = try store.newestSnapshot()
      try change(60)
      #expect(store.pinWarning() != nil)
      withExtendedLifetime(pin) { pin = nil }
      #expect(store.pinWarning() == nil)
    }
  }

  @Test func `a limit finds the oldest state`() throws {
    let pin = try store.newestSnapshot()
    try change(60)
    let state = try #require(try store.oldestState(keepingMoreThan: 100_000))
    #expect(state.keptBytes > 100_000)
    #expect(state.commitsBehind == 60)
    #expect(try store.oldestState(keepingMoreThan: 100_000_000) == nil)
    // A smaller limit is checked whatever the greater one's result was.
    #expect(try store.oldestState(keepingMoreThan: 100_000) != nil)
    withExtendedLifetime(pin) {}
  }
}
