import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Where positions are, and whose they are.
struct PositionsTests {
  private let folder = TemporaryFolder()

  private func watch(_ name: String, _ sinks: String...) -> WatchSettings {
    var watch = WatchSettings(name: name, file: "/x", className: "Note")
    watch.sinks = sinks.map { SinkSettings(name: $0, kind: .file(FileSettings(path: "/y"))) }
    return watch
  }

  private func positions(_ daemon: String, _ watches: WatchSettings...) -> Positions {
    Positions(in: folder.path, daemon: daemon, DaemonSettings(instance: daemon, watches: watches))
  }

  private func position(_ version: Int) throws -> ChangePosition {
    try #require(ChangePosition("AF11F38A-D1C8-96E9-DC49-3114BC34C012/\(version)/db8387c82d6bee08"))
  }

  @Test func noTwoConsumersShareAPosition() throws {
    var paths: Set<String> = []
    var count = 0
    for daemon in ["a", "a.b", "A", "..", "a b", "a%20b", "\u{e9}", "e\u{301}"] {
      let positions = positions(daemon)
      for (watch, sink) in [("a", "b.c"), ("a.b", "c"), ("a", "b"), ("a.b.c", "file")] {
        for file in ["/x", "/x.y", "/\u{e9}", "/e\u{301}"] {
          paths.insert(positions.path(watch, sink, file))
          count += 1
        }
      }
    }
    #expect(paths.count == count)
    #expect(paths.allSatisfy { $0.hasPrefix("\(folder.path)/positions/") && !$0.contains("/../") })
  }

  /// Writes a position as an earlier version did.
  private func writeFormer(
    _ positions: Positions, _ watch: String, _ sink: String, _ file: String
  ) throws {
    let position = try position(1)
    try positions.make()
    try PositionFile(positions.formerPath(watch, sink, file)).update { content in
      content.intended = position
      content.isOfEarlierVersion = true
    }
  }

  @Test func takesOverWhatAnEarlierVersionWrote() throws {
    let file = try folder.file("notes.tarn", [1])
    let positions = positions("d", watch("a", "b"))
    try writeFormer(positions, "a", "b", file)
    let content = try positions.open("a", "b", file, [], cursor: "h/d/a/b").file.content
    #expect(content.intended == (try position(1)))
    #expect(content.isOfEarlierVersion)
    #expect(FileManager.default.fileExists(atPath: positions.path("a", "b", file)))
    #expect(!FileManager.default.fileExists(atPath: positions.formerPath("a", "b", file)))
  }

  @Test func doesNotTakeOverWhatFitsTwoSinks() throws {
    let file = try folder.file("notes.tarn", [1])
    let positions = positions("d", watch("a", "b.c"), watch("a.b", "c"))
    try writeFormer(positions, "a", "b.c", file)
    for (watch, sink) in [("a", "b.c"), ("a.b", "c")] {
      let found = try positions.open(watch, sink, file, [], cursor: "h/d/\(watch)/\(sink)")
      #expect(found.file.content == PositionFile.Content())
    }
  }

  @Test func renamesAndRemovesPositions() throws {
    let file = try folder.file("notes.tarn", [1])
    let positions = positions("d", watch("a", "b"))
    let position = try position(3)
    try positions.open("a", "b", file, [], cursor: "c").file.update { $0.acknowledged = position }
    try positions.begin("a", "b")
    try positions.move("a", "b", file, to: "n")
    #expect(positions.hasBegun("n", "b"))
    #expect(!positions.hasBegun("a", "b"))
    #expect(
      try positions.open("n", "b", file, [], cursor: "c").file.content.acknowledged == position)
    positions.remove("n", "b", file)
    positions.end("n", "b")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("positions/d")) == [])
  }

  /// A daemon may be killed before the first delivery from a copy.
  /// Somebody else's link or pipe is neither followed nor waited for.
  @Test func makesItsMarksItself() throws {
    let positions = positions("d", watch("w", "s"))
    let sink = positions.sinkFolder("w", "s")
    try FileManager.default.createDirectory(atPath: sink, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(sink)/begun", withDestinationPath: folder.file("target"))
    try #require(mkfifo("\(sink)/paused", 0o600) == 0)
    #expect(throws: ToolError.self) { try positions.begin("w", "s") }
    #expect(throws: ToolError.self) { try positions.setPaused("w", "s", true) }
    #expect(!folder.names.contains("target"))
  }

  @Test func knowsACopyUntilItHasAPosition() throws {
    let path = folder.file("a.tarn")
    let store = try StoreRegistry.open(path, Store.Options())
    let held = try store.openCursor(CursorRequest("d/a/b"))
    defer { held.release() }
    let records = try store.cursors().map(\.record)
    let position = ChangePosition(try #require(records.first).acknowledged)
    let copy = try folder.file("b.tarn", [1])
    let positions = positions("d", watch("a", "b"))
    try positions.open("a", "b", path, records, cursor: "d/a/b").file
      .update { $0.acknowledged = position }
    for _ in 1...2 {
      let found = try positions.open("a", "b", copy, records, cursor: "d/a/b")
      #expect(found.origin == .copied(from: path))
      try found.file.noteDelivery(from: nil, upTo: position, isDurable: false)
    }
    try positions.open("a", "b", copy, records, cursor: "d/a/b").file
      .update { $0.acknowledged = position }
    let last = try positions.open("a", "b", copy, records, cursor: "d/a/b")
    #expect(last.origin == .alone)
  }

  /// Whoever comes to a path that a file has left has another content than its consumer.
  @Test func aPositionIsOfOnePath() throws {
    let (a, b) = (folder.file("a.tarn"), folder.file("b.tarn"))
    let (records, position) = try { () throws -> ([CursorRecord], ChangePosition) in
      let store = try StoreRegistry.open(a, Store.Options())
      let held = try store.openCursor(CursorRequest("d/w/s"))
      defer { held.release() }
      let records = try store.cursors().map(\.record)
      return (records, ChangePosition(try #require(records.first).acknowledged))
    }()
    let positions = positions("d", watch("w", "s"))
    func open(_ path: String) throws -> (file: PositionFile, origin: FileOrigin) {
      try positions.open("w", "s", path, records, cursor: "d/w/s")
    }
    try open(a).file.update { $0.acknowledged = position }
    for (from, to) in [(a, b), (b, a), (a, b)] {
      try #require(rename(from, to) == 0)
      // Also if the daemon is killed before its first delivery.
      for _ in 1...2 {
        let found = try open(to)
        #expect(found.origin == .moved(from: from))
        #expect(found.file.content.acknowledged == ExpectedPosition.nowhere)
      }
      try open(to).file.update { $0.acknowledge(position) }
      let found = try open(to)
      #expect(found.origin == .alone)
      #expect(found.file.content.acknowledged == position)
    }
  }

  // MARK: - Origins

  private let one = UUID()
  private let other = UUID()

  private func place(_ path: String, _ inode: UInt64, device: UInt64 = 1) -> WatchedPlace {
    WatchedPlace(path: path, file: FileIdentity(device: device, inode: inode))
  }

  private func origin(
    _ place: WatchedPlace, _ notes: [WatchedPlace], now: [WatchedPlace]
  ) -> FileOrigin {
    FileOrigin(of: place, history: one, notes.map { FileOrigin.Note(place: $0, history: one) }) {
      path in now.first { $0.path == path }
    }
  }

  @Test func knowsCopiesAndFilesThatWereMoved() {
    let (a, b) = (place("/a", 1), place("/b", 2))
    #expect(origin(b, [], now: [b]) == .alone)
    #expect(origin(b, [a], now: [a, b]) == .copied(from: "/a"))
    // Another boot, another number of the device.
    #expect(origin(b, [place("/a", 1, device: 7)], now: [a, b]) == .copied(from: "/a"))
    #expect(origin(place("/b", 1), [a], now: [place("/b", 1)]) == .moved(from: "/a"))
    // To another file system; or replaced at the former path.
    #expect(origin(b, [a], now: [b]) == .moved(from: "/a"))
    #expect(origin(place("/b", 1), [a], now: [place("/a", 9)]) == .moved(from: "/a"))
    // Two names of one file.
    #expect(origin(place("/b", 1), [a], now: [a, place("/b", 1)]) == .alone)
    // Both that it may have been are gone.
    #expect(origin(b, [a, place("/c", 3)], now: [b]) == .copied(from: "/a"))
    let elsewhere = [FileOrigin.Note(place: a, history: other)]
    #expect(FileOrigin(of: b, history: one, elsewhere, now: { _ in a }) == .alone)
  }
}
