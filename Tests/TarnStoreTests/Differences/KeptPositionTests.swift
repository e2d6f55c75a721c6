import TestSupport
import Testing

@testable import TarnStore

/// Positions that consumers keep outside of the file.
@Suite struct KeptPositionTests {
  private let folder = TemporaryStore()
  private let store: Store

  init() throws { store = try folder.open() }

  private func commit() throws -> FeedPlace {
    try store.write { _ in }
    return FeedPlace(try store.newestSnapshot().head)
  }

  private func reason(
    _ place: FeedPlace?, because reason: FeedReason? = nil, isConfirmed: Bool = false
  ) throws -> FeedReason? {
    let snapshot = try store.newestSnapshot()
    return try KeptPosition(
      at: place, because: reason, isConfirmed: isConfirmed, in: snapshot
    ).state(in: snapshot).reason
  }

  /// The same version, as another copy of the file has it.
  private func foreign(_ place: FeedPlace) -> FeedPlace {
    var place = place
    place.commitID &+= 1
    return place
  }

  @Test func goesOnFromACommitOfTheFile() throws {
    let beginning = FeedPlace(try store.newestSnapshot().head)
    let cursor = try store.openCursor(CursorRequest("a"))
    let places = try (1...3).map { _ in try commit() }
    for place in [beginning] + places {
      #expect(try reason(place) == nil, "\(place.version)")
    }
    for place in places { #expect(try reason(foreign(place)) == .restored) }
    var later = places[2]
    later.version = later.version.next
    #expect(try reason(later) == .restored)
    var other = places[0]
    other.historyID.low &+= 1
    #expect(try reason(other) == .restored)
    #expect(try reason(nil) == .snapshot)
    #expect(try reason(places[2], because: .selection) == .selection)
    withExtendedLifetime(cursor) {}
  }

  /// All records after it are there, and nothing shows whether its own commit was.
  @Test func expiresWithItsOwnRecord() throws {
    let first = try commit()
    let second = try commit()
    try store.pruneUnneeded()
    #expect(try store.retainedVersions().map(\.version) == [second.version])
    #expect(try reason(first) == .expired)
    #expect(try reason(foreign(first)) == .expired)
    // What this process has seen needs no record.
    #expect(try reason(first, isConfirmed: true) == nil)
    _ = try commit()
    try store.pruneUnneeded()
    #expect(try reason(first, isConfirmed: true) == .expired)
  }

  /// A cursor needs the records after its position, and has the id of its commit itself.
  @Test func isConfirmedByACursor() throws {
    let first = try commit()
    let cursor = try store.openCursor(CursorRequest("a"))
    _ = try commit()
    _ = try commit()
    try store.pruneUnneeded()
    #expect(try store.retainedVersions().count == 2)
    #expect(try reason(first) == nil)
    #expect(try reason(foreign(first)) == .expired)
    withExtendedLifetime(cursor) {}
  }

  @Test func needsNoConfirmationOfWhatItAcknowledges() throws {
    let first = try commit()
    let snapshot = try store.newestSnapshot()
    let kept = try KeptPosition(at: nil, in: snapshot)
    try kept.acknowledge(from: first, to: first)
    let second = try commit()
    try store.pruneUnneeded()
    #expect(try kept.state(in: store.newestSnapshot()).reason == nil)
    try kept.acknowledge(from: first, to: second)
    #expect(throws: StorageError.self) { try kept.acknowledge(from: first, to: second) }
  }
}
