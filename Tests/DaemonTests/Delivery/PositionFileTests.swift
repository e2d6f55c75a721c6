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

  /// Until another batch is sent, however often it is.
  @Test func knowsABatchWhoseBeginningAnEarlierVersionDidNotNote() throws {
    let path = folder.file("p")
    let (done, next, last) = (try position(1), try position(2), try position(3))
    try PositionFile(path).update { content in
      content.acknowledged = done
      content.intended = next
    }
    for _ in 1...2 {
      #expect(try PositionFile(path).earlierIntended == next)
      try PositionFile(path).noteDelivery(from: done, upTo: next, isDurable: true)
    }
    let file = try PositionFile(path)
    try file.noteDelivery(from: next, upTo: last, isDurable: true)
    #expect(file.earlierIntended == nil)
    #expect(try PositionFile(path).earlierIntended == nil)
  }

  /// The end of the last delivery, if no note of one can have been lost.
  @Test(arguments: [false, true])
  func knowsWhatMayHaveBeenDelivered(_ isDurable: Bool) throws {
    let path = folder.file("p")
    let places = try (1...9).map { try position($0) }
    #expect(try PositionFile(path).delivered == nil)
    try PositionFile(path).update { $0.acknowledged = places[0] }
    // An earlier version noted no deliveries.
    #expect(try PositionFile(path).delivered == nil)
    #expect(try !PositionFile(path).notesDeliveries)
    let written = try PositionFile(path)
    for index in 0..<8 {
      try written.noteDelivery(
        from: places[index], upTo: places[index + 1], isDurable: isDurable)
      let found = try PositionFile(path)
      #expect(found.delivered == places[index + 1])
      #expect(found.content.acknowledged == places[index])
      #expect(found.notesDeliveries)
    }
    try written.update { content in
      content.acknowledged = places[8]
      content.intended = nil
    }
    #expect(try PositionFile(path).delivered == places[8])
    // After another boot.
    var bytes = try #require(FileManager.default.contents(atPath: path))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    let file = try PositionFile(path)
    #expect(file.delivered == nil)
    #expect(file.content.acknowledged == places[8])
  }

  /// A batch that was refused goes on with its part, until the consumer has all of it.
  @Test func keepsThePartOfADividedBatch() throws {
    let path = folder.file("p")
    let (first, second, last) = (try position(1), try position(3), try position(9))
    let part = SentPart(line: 1, items: 5..<9, number: 3)
    let file = try PositionFile(path)
    try file.noteDelivery(from: first, upTo: second, part: part, form: "f", isDurable: true)
    try file.update { $0.refusedThrough = 7 }
    let found = try PositionFile(path)
    #expect(found.content == file.content)
    #expect(found.content.part == part)
    #expect(found.content.form == "f")
    #expect(found.content.refusedThrough == 7)
    try found.update { $0.acknowledge(second) }
    let rest = try PositionFile(path).content
    #expect(rest == PositionFile.Content(acknowledged: second, refusedThrough: 7))
    try found.update { $0.acknowledge(last) }
    #expect(try PositionFile(path).content == PositionFile.Content(acknowledged: last))
  }

  /// A batch keeps the form in which it was begun, also if it had none.
  @Test(arguments: [nil, "f"])
  func keepsForms(_ form: String?) throws {
    let path = folder.file("p")
    let (first, second, third) = (try position(1), try position(3), try position(5))
    let file = try PositionFile(path)
    try file.noteDelivery(from: first, upTo: second, form: form, isDurable: true)
    try file.update { $0.selection = "s" }
    #expect(try PositionFile(path).content == file.content)
    try file.noteDelivery(from: first, upTo: second, form: "g", isDurable: true)
    #expect(try PositionFile(path).content.form == form.map { _ in "g" })
    try file.noteDelivery(from: second, upTo: third, form: "g", isDurable: true)
    #expect(try PositionFile(path).content.form == "g")
    try file.update { $0.acknowledge(third) }
    #expect(
      try PositionFile(path).content
        == PositionFile.Content(acknowledged: third, selection: "s"))
  }

  @Test func keepsWhatIsAskedFor() throws {
    let path = folder.file("p")
    let (first, second) = (try position(1), try position(3))
    let file = try PositionFile(path)
    let asked = AskedActions(file)
    #expect(asked.next == nil)
    for action in [AskedAction.resend, .skip(through: 7)] {
      try asked.ask(action)
      // Beside everything else.
      try file.noteDelivery(
        from: first, upTo: second, part: SentPart(line: 1, items: 5..<9, number: 3), form: "f",
        isDurable: true)
      try file.update { $0.acknowledge(second) }
      #expect(AskedActions(try PositionFile(path)).next == action)
    }
    let again = AskedActions(try PositionFile(path))
    // Something else was asked for meanwhile.
    try again.isDone(.resend)
    #expect(again.next == .skip(through: 7))
    try again.isDone(.skip(through: 7))
    #expect(again.next == nil)
    #expect(try PositionFile(path).content == PositionFile.Content(acknowledged: second))
    for text in ["", "skip", "skip=", "skip=x", "resend="] {
      #expect(AskedAction(text) == nil)
    }
  }

  /// Notes that are not on the disk replace each other, not the last write that is.
  @Test func keepsTheLastDurableWrite() throws {
    let path = folder.file("p")
    let (first, second, third) = (try position(1), try position(2), try position(3))
    let file = try PositionFile(path)
    try file.update { $0.acknowledged = first }
    let line = "\(first) - "
    for end in [second, third, second, third] {
      try file.noteDelivery(from: nil, upTo: end, isDurable: false)
      let data = try #require(FileManager.default.contents(atPath: path))
      #expect(data.range(of: Data(line.utf8)) != nil)
    }
    #expect(try PositionFile(path).content.intended == third)
  }
}
