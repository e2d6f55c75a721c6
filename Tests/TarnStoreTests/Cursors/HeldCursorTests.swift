import TestSupport
import Testing

@testable import TarnStore

/// Cursors in a file: made, acknowledged, taken, deleted, and what they keep.
@Suite struct HeldCursorTests {
  private let folder = TemporaryStore()
  private let store: Store

  init() throws {
    let crates = ClassDefinition(name: "Crate", properties: [.init(name: "name", type: .string)])
    store = try folder.open([crates])
  }

  private func add(_ count: Int) throws {
    for _ in 0..<count { try store.write { _ = try $0.create([:], in: ClassID(0)) } }
  }

  private func place() throws -> FeedPlace { FeedPlace(try store.newestSnapshot().head) }
  private func records() throws -> Int { try store.retainedVersions().count }

  @Test func aNewCursorIsAtTheNewestVersion() throws {
    try add(3)
    let cursor = try store.openCursor(CursorRequest("a"))
    let state = try cursor.state(in: store.newestSnapshot())
    #expect(state.acknowledged == (try place()))
    #expect(state.reason == nil)
    #expect(try store.newestSnapshot().head.featureFlags == HeadRecord.feedFeature)
  }

  /// However many cursors a process holds, they take one descriptor.
  @Test func cursorsShareADescriptor() throws {
    let signal = store.path + "-signal"
    let before = Descriptors.leading(to: signal).count
    func isHeld(_ name: String) throws -> Bool? {
      try store.cursors().first { $0.record.name == name }?.isHeld
    }
    let held = try ["a", "b", "c"].map { try store.openCursor(CursorRequest($0)) }
    #expect(Descriptors.leading(to: signal).count == before + 1)
    #expect(StorageError.code { _ = try store.openCursor(CursorRequest("a")) } == .busy)
    held[0].release()
    held[0].release()
    #expect(try isHeld("a") == false)
    #expect(try isHeld("b") == true)
    var taking = CursorRequest("b")
    taking.takes = true
    let taken = try store.openCursor(taking)
    held[1].release()
    #expect(try isHeld("b") == true)
    for cursor in [taken, held[2]] { cursor.release() }
    #expect(try isHeld("b") == false)
    #expect(Descriptors.leading(to: signal).count == before)
    let again = try store.openCursor(CursorRequest("c"))
    #expect(try isHeld("c") == true)
    again.release()
  }

  @Test func aWriteThatBelongsToACursorSharesNoTransaction() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    let start = try place()
    try add(1)
    let plain = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    _ = try plain.create([:], in: ClassID(0))
    #expect(try plain.savepoint() != nil)
    cursor.own(plain)
    #expect(try plain.savepoint() == nil)
    let acknowledging = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    _ = try acknowledging.create([:], in: ClassID(0))
    try cursor.acknowledge(from: start, to: place(), in: acknowledging, owns: false)
    #expect(try acknowledging.savepoint() == nil)
  }

  @Test func makingACursorIsNoVersion() throws {
    try add(1)
    let before = try store.newestSnapshot()
    let session = WriteSession(try SnapshotReader(before)) {}
    _ = try session.create([:], in: ClassID(0))
    let cursor = try store.openCursor(CursorRequest("a"))
    #expect(try store.newestSnapshot().version == before.version)
    // A write that began before is still committed, and keeps the cursor.
    _ = try store.commit(session)
    #expect(try store.cursors().map(\.record.name) == ["a"])
    cursor.release()
  }

  @Test func recordsAreKeptUntilTheyAreAcknowledged() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    let start = try place()
    try add(20)
    try store.pruneUnneeded()
    #expect(try records() == 20)
    try cursor.acknowledge(from: start, to: place())
    try store.pruneUnneeded()
    #expect(try records() == 1)
  }

  @Test func anAcknowledgementFromElsewhereIsRefused() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    let start = try place()
    try add(1)
    let next = try place()
    try cursor.acknowledge(from: start, to: next)
    #expect(
      StorageError.code { try cursor.acknowledge(from: start, to: next) } == .conflict)
  }

  @Test func anAcknowledgementIsPartOfAWrite() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    let start = try place()
    try add(1)
    let next = try place()
    try store.write { session in
      _ = try session.create([:], in: ClassID(0))
      try cursor.acknowledge(from: start, to: next, in: session, owns: true)
    }
    let newest = try store.newestSnapshot()
    #expect(try cursor.state(in: newest).acknowledged == next)
    #expect(try store.retainedVersions().last?.note?.cursors == [cursor.number])
  }

  @Test func aHeldCursorIsRefusedUntilItIsReleased() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    #expect(StorageError.code { try store.openCursor(CursorRequest("a")) } == .busy)
    cursor.release()
    #expect(StorageError.code { try store.openCursor(CursorRequest("a")) } == nil)
  }

  @Test func theFormerOwnerOfATakenCursorIsRefused() throws {
    let former = try store.openCursor(CursorRequest("a"))
    let start = try place()
    let taker = try store.openCursor(CursorRequest("a", takes: true))
    try add(1)
    let next = try place()
    #expect(StorageError.code { try former.acknowledge(from: start, to: next) } == .conflict)
    try taker.acknowledge(from: start, to: next)
  }

  @Test func deletingTheLastCursorEndsTheFeature() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    try add(5)
    #expect(StorageError.code { try store.deleteCursor("a") } == .busy)
    cursor.release()
    try store.deleteCursor("a")
    #expect(try store.newestSnapshot().head.featureFlags == 0)
    #expect(try records() == 1)
    #expect(StorageError.code { try store.deleteCursor("a") } == .notFound)
  }

  @Test func aRetentionKeepsThatManyVersions() throws {
    try store.raiseRetention(to: RetentionPolicy(RetentionLimits(versions: 3)))
    try add(10)
    try store.pruneUnneeded()
    #expect(try records() == 3)
    try store.raiseRetention(to: RetentionPolicy(RetentionLimits(versions: 2)))
    #expect(try store.retention().limits == [RetentionLimits(versions: 3)])
    try store.setRetention(RetentionPolicy())
    #expect(try store.newestSnapshot().head.featureFlags == 0)
  }

  @Test func aCursorExpiresBeyondItsLimit() throws {
    let cursor = try store.openCursor(CursorRequest("a", limits: CursorLimits(bytes: 200)))
    try add(20)
    let newest = try store.newestSnapshot()
    #expect(try cursor.state(in: newest).reason == .expired)
    try cursor.acknowledge(from: cursor.state(in: newest).acknowledged, to: place())
    #expect(try cursor.state(in: store.newestSnapshot()).reason == nil)
  }

  @Test(arguments: ["", "a\nb", "\u{7f}", String(repeating: "n", count: 256)])
  func aNameThatCannotBeOneIsRefused(_ name: String) {
    #expect(StorageError.code { try store.openCursor(CursorRequest(name)) } == .invalidInput)
  }

  @Test func aSelectionThatIsTooLongIsRefused() throws {
    let part = FeedSelectionName(
      className: "Crate", condition: String(repeating: "x", count: 5000), keyPaths: nil)
    #expect(
      StorageError.code { try store.openCursor(CursorRequest("a", selection: [part])) }
        == .limitExceeded)
    #expect(try store.cursors().isEmpty)
  }

  @Test func anotherSelectionBeginsAnew() throws {
    try store.openCursor(CursorRequest("a")).release()
    let part = FeedSelectionName(className: "Crate", condition: nil, keyPaths: ["name"])
    let cursor = try store.openCursor(CursorRequest("a", selection: [part]))
    #expect(try cursor.state(in: store.newestSnapshot()).reason == .selection)
    #expect(try cursor.record(in: store.newestSnapshot()).selection == [part])
  }

  @Test func anOlderLibraryRefusesTheFile() throws {
    let cursor = try store.openCursor(CursorRequest("a"))
    defer { cursor.release() }
    let code = try store.newestSnapshot().head.withEncoded { bytes in
      StorageError.code { _ = try HeadRecord(decoding: bytes, knowing: 0) }
    }
    #expect(code == .newerFormat)
  }
}
