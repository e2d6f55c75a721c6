import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnDaemon

struct PositionFileTests {
  private let folder = TemporaryFolder()

  private func position(_ version: Int) throws -> ChangePosition {
    try #require(ChangePosition("AF11F38A-D1C8-96E9-DC49-3114BC34C012/\(version)/db8387c82d6bee08"))
  }

  @Test func keepsPositions() throws {
    let path = folder.file("p")
    #expect(try PositionFile(path).content == PositionFile.Content())
    for version in 1...5 {
      let (done, next) = (try position(version), try position(version + 1))
      try PositionFile(path).update { content in
        content.acknowledged = done
        content.intended = next
      }
      let found = try PositionFile(path).content
      #expect(found.acknowledged == done)
      #expect(found.intended == next)
    }
  }

  /// A power cut may leave any part of the last write.
  @Test func survivesATornWrite() throws {
    let path = folder.file("p")
    let (first, second) = (try position(1), try position(2))
    try PositionFile(path).update { $0.acknowledged = first }
    let before = try #require(FileManager.default.contents(atPath: path))
    try PositionFile(path).update { $0.acknowledged = second }
    let after = try #require(FileManager.default.contents(atPath: path))
    let padded = before + Data(count: after.count - before.count)
    let differing = zip(padded, after).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
    #expect(!differing.isEmpty)
    // The second slot begins the file; spaces follow its line.
    let end = try #require(after.firstIndex(of: 0x0a))
    for place in differing {
      var torn = padded
      torn.replaceSubrange(differing[0]..<place, with: after[differing[0]..<place])
      try torn.write(to: URL(fileURLWithPath: path))
      let expected = place > end ? second : first
      #expect(try PositionFile(path).content.acknowledged == expected, "torn at \(place)")
    }
  }

  @Test func notesTheFileThatItIsFor() throws {
    let path = folder.file("p")
    let position = try position(1)
    var place = WatchedPlace(
      path: "/srv/a b\n.tarn", file: FileIdentity(device: 5, inode: .max))
    // Nothing is noted before there is a position.
    _ = try PositionFile(path, of: place)
    #expect(PositionFile.noted(in: path) == nil)
    try PositionFile(path, of: place).update { $0.acknowledged = position }
    #expect(PositionFile.noted(in: path)?.place == place)
    // Another file is at the path now.
    place = WatchedPlace(path: place.path, file: FileIdentity(device: 5, inode: 6))
    _ = try PositionFile(path, of: place)
    let noted = try #require(PositionFile.noted(in: path))
    #expect(noted.place == place)
    #expect(noted.content.acknowledged == position)
  }

  /// Its keys hold until the batch is acknowledged.
  @Test func knowsABatchThatAnEarlierVersionBegan() throws {
    let path = folder.file("p")
    let (done, next) = (try position(1), try position(2))
    try PositionFile(path).update { content in
      content.acknowledged = done
      content.intended = next
      content.isOfEarlierVersion = true
    }
    #expect(try PositionFile(path).content.isOfEarlierVersion)
    try PositionFile(path).update { content in
      content.acknowledged = next
      content.intended = nil
      content.isOfEarlierVersion = false
    }
    #expect(try PositionFile(path).content == PositionFile.Content(acknowledged: next))
  }
}
