import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Files that come, go, and cannot be written.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct WatchedFileTests {
  private let folder = TemporaryFolder()

  private static func configuration(_ file: String = "notes.tarn") -> String {
    """
    watches:
      - name: notes
        file: $/\(file)
        class: Note
        delivery: {first-retry: 10ms, last-retry: 20ms}
        sinks: [{file: $/out.jsonl}, {socket: $/notes.sock}]
    """
  }

  private func lines(of path: String) throws -> NoteModel {
    var model = NoteModel()
    guard let data = FileManager.default.contents(atPath: folder.file("out.jsonl")),
      let end = data.lastIndex(of: 0x0a)
    else { return model }
    for line in String(decoding: data[..<end], as: UTF8.self).split(separator: "\n") {
      let json = try JSONScanner.value(in: String(line))
      if json["file"] == .string(path) { try model.apply(json) }
    }
    return model
  }

  @Test func waitsForAFile() async throws {
    let daemon = try DaemonProcess(folder, Self.configuration())
    #expect(daemon.errors.contains("waiting for \(folder.path)/notes.tarn: there is no such file"))
    let client = try LineClient(folder.file("notes.sock"), "{}\n")
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let version = try file.version
    try await yieldUntil { try lines(of: file.path).version == version }
    var model = NoteModel()
    try client.read(upTo: version, into: &model)
    #expect(try model.notes == file.expected)
    daemon.stop()
  }

  /// The daemon has no classes, and takes the schema version of the file.
  @Test func watchesFilesThatAreMigrated() async throws {
    let file = try NoteFile(folder, schemaVersion: 2)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration())
    try await yieldUntil { try lines(of: file.path).notes == file.expected }
    let migrated = try NoteFile(folder, schemaVersion: 3)
    try migrated.put(2, "two")
    try await yieldUntil { try lines(of: file.path).notes == migrated.expected }
    try daemon.killAndRestart()
    try migrated.put(3, "three")
    try await yieldUntil { try lines(of: file.path).notes == migrated.expected }
    #expect(!daemon.errors.contains("schema version"), "\(daemon.errors)")
    daemon.stop()
  }

  /// Names that are not UTF-8: the bytes E9 and E8.
  @Test func watchesFilesOfAnyName() async throws {
    let files = try ["caf\u{10ffe9}.tarn", "caf\u{10ffe8}.tarn"].map { try NoteFile(folder, $0) }
    for (number, file) in files.enumerated() { try file.put(number, "note") }
    let daemon = try DaemonProcess(folder, Self.configuration("*.tarn"))
    for file in files {
      try await yieldUntil { try lines(of: file.path).notes == file.expected }
    }
    daemon.stop()
  }

  @Test func startsAnewWithAFileThatReplacesAnother() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    try file.put(2, "two")
    let daemon = try DaemonProcess(folder, Self.configuration())
    let client = try LineClient(folder.file("notes.sock"), "{}\n")
    var model = NoteModel()
    try client.read(upTo: 2, into: &model)
    try await yieldUntil { try lines(of: file.path).version == 2 }
    let other = TemporaryFolder()
    do {
      let new = try NoteFile(other, "new.tarn")
      for id in 5...9 { try new.put(id, "new") }
    }
    for ending in ["-lock", "-signal"] { unlink(file.path + ending) }
    #expect(rename(other.file("new.tarn"), file.path) == 0)
    try await yieldUntil { try lines(of: file.path).notes.keys.sorted() == [5, 6, 7, 8, 9] }
    #expect(
      daemon.errors.contains(
        "notes/file: \(folder.path)/notes.tarn: the file was replaced, moved or deleted"))
    // Advice for programs is not for operators.
    #expect(!daemon.errors.contains("Realm"), "\(daemon.errors)")
    try client.read(upTo: 5, into: &model)
    #expect(model.notes.keys.sorted() == [5, 6, 7, 8, 9])
    #expect(model.beginnings == ["snapshot", "restored"])
    daemon.stop()
  }

  @Test func followsAllFilesOfAPattern() async throws {
    let first = try NoteFile(folder, "a.tarn")
    try first.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration("*.tarn"))
    let second = try NoteFile(folder, "b.tarn")
    try second.put(2, "two")
    try first.put(3, "three")
    let version = try first.version
    try await yieldUntil {
      try lines(of: first.path).version == version && lines(of: second.path).version == 1
    }
    #expect(try lines(of: first.path).notes == first.expected)
    #expect(try lines(of: second.path).notes == second.expected)
    daemon.stop()
  }

  /// `start: newest` is for what was there when the watch began.
  @Test func deliversWhatAppearsLaterFromItsBeginning() async throws {
    let first = try NoteFile(folder, "a.tarn")
    try first.put(1, "one")
    let newest = Self.configuration("*.tarn").replacingOccurrences(
      of: "class: Note", with: "class: Note\n    start: newest")
    let daemon = try DaemonProcess(folder, newest)
    try first.put(2, "two")
    let second = try NoteFile(folder, "b.tarn")
    try second.put(1, "one")
    try await yieldUntil { try lines(of: second.path).version == second.version }
    try await yieldUntil { try lines(of: first.path).version == first.version }
    #expect(try lines(of: first.path).notes == [2: "two 0"])
    #expect(try lines(of: second.path).notes == [1: "one 0"])
    daemon.stop()
    let third = try NoteFile(folder, "c.tarn")
    try third.put(1, "one")
    try daemon.restart()
    try await yieldUntil { try lines(of: third.path).version == third.version }
    #expect(try lines(of: third.path).notes == [1: "one 0"])
    #expect(try lines(of: first.path).beginnings == [])
    daemon.stop()
  }

  /// A daemon that reads such a store is ended by SIGBUS, and systemd starts it again.
  @Test func servesOthersBesideAStoreThatWasEmptied() async throws {
    let first = try NoteFile(folder, "a.tarn")
    try first.put(1, "one")
    // This process must not have it open.
    let second = folder.file("b.tarn")
    do {
      let other = TemporaryFolder()
      try NoteFile(other).put(2, "two")
      try FileManager.default.copyItem(atPath: other.file("notes.tarn"), toPath: second)
    }
    let daemon = try DaemonProcess(folder, Self.configuration("*.tarn"))
    try await yieldUntil { try lines(of: second).version == 1 }
    try await yieldUntil { try lines(of: first.path).version == 1 }
    #expect(truncate(second, 0) == 0)
    try daemon.killAndRestart()
    #expect(daemon.errors.contains("waiting for \(second): the file is not made yet"))
    try first.put(3, "three")
    try await yieldUntil { try lines(of: first.path).version == 2 }
    #expect(daemon.stop() == .exited(0))
  }

  /// A copy has the cursor of the original, whose consumer has nothing of the copy.
  @Test func deliversACopyFromItsBeginning() async throws {
    let first = try NoteFile(folder, "a.tarn")
    try first.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration("*.tarn"))
    try await yieldUntil { try lines(of: first.path).version == 1 }
    // The copy is made when the acknowledgement is in the file and in the state folder.
    daemon.stop()
    let copy = folder.file("0.tarn")
    try FileManager.default.copyItem(atPath: first.path, toPath: copy)
    for _ in 1...2 {
      try daemon.restart()
      try first.put(2, "two")
      let version = try first.version
      try await yieldUntil { try lines(of: first.path).version == version }
      try await yieldUntil { try lines(of: copy).version == 1 }
      daemon.stop()
    }
    #expect(try lines(of: copy).notes == [1: "one 0"])
    #expect(try lines(of: copy).beginnings == ["restored"])
    #expect(try lines(of: first.path).beginnings == ["snapshot"])
    // A file that is moved is new at the other path.
    #expect(rename(first.path, folder.file("z.tarn")) == 0)
    for ending in ["-lock", "-signal"] { unlink(first.path + ending) }
    try daemon.restart()
    let moved = try NoteFile(folder, "z.tarn")
    try moved.put(3, "three")
    try await yieldUntil { try lines(of: moved.path).notes == moved.expected }
    #expect(try lines(of: moved.path).beginnings == ["restored"])
    daemon.stop()
  }

  /// A receiver that applies the lines in order has, by path, what the store has.
  @Test(arguments: [false, true])
  func deliversAStoreThatLeavesAPathAndReturns(_ stops: Bool) async throws {
    let (y, z) = (folder.file("y.tarn"), folder.file("z.tarn"))
    let daemon = try DaemonProcess(folder, Self.configuration("*.tarn"))
    func rename(_ from: String, _ to: String) throws {
      if stops { daemon.stop() }
      for ending in ["", "-lock", "-signal"] {
        try #require(Foundation.rename(from + ending, to + ending) == 0)
      }
      if stops { try daemon.restart() }
    }
    try NoteFile(folder, "y.tarn").putAll([5: "five", 6: "six"])
    try await yieldUntil { try lines(of: y).version == 1 }
    for round in 1...2 {
      try rename(y, z)
      let moved = try NoteFile(folder, "z.tarn")
      try moved.put(6, "as z \(round)")
      try await yieldUntil { try lines(of: z).notes == moved.expected }
      try rename(z, y)
      let back = try NoteFile(folder, "y.tarn")
      try back.put(5, "as y \(round)")
      try await yieldUntil { try lines(of: y).notes == back.expected }
    }
    let (ofZ, ofY) = try (lines(of: z).beginnings, lines(of: y).beginnings)
    #expect(ofY.first == "snapshot")
    #expect(ofZ == ["restored", "restored"])
    #expect(ofY == ["snapshot", "restored", "restored"])
    // Without another path between, it goes on.
    daemon.stop()
    try daemon.restart()
    let last = try NoteFile(folder, "y.tarn")
    try last.put(7, "seven")
    try await yieldUntil { try lines(of: y).notes == last.expected }
    #expect(try lines(of: y).beginnings == ofY)
    daemon.stop()
  }

  @Test func saysWhatItDoesNotKnowWithoutAStateFolder() throws {
    _ = try NoteFile(folder)
    let text = DaemonProcess.withoutState + Self.configuration()
    let daemon = try DaemonProcess(folder, text)
    let notice = "without a state folder, a file that 'cp' has copied continues at the position"
    #expect(daemon.errors.contains(notice))
    #expect(!daemon.errors.contains("'start: newest'"))
    daemon.stop()
    let newest = text.replacingOccurrences(
      of: "class: Note", with: "class: Note\n    start: newest")
    let other = try DaemonProcess(folder, newest)
    #expect(other.errors.contains("'start: newest' also holds for files and classes"))
    other.stop()
  }

  @Test func refusesAClassThatIsNotThere() async throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(
      folder,
      Self.configuration().replacingOccurrences(of: "class: Note", with: "class: Nothing"))
    try await yieldUntil { daemon.errors.contains("waiting for the class 'Nothing'") }
    #expect(daemon.stop() == .exited(0))
  }

  /// Positions are in the state folder then, and hold as long as the change records.
  @Test func goesOnInAFileThatItMayNotWrite() async throws {
    let file = try NoteFile(folder)
    try file.retain(10)
    try file.put(1, "one")
    try FileManager.default.createDirectory(
      atPath: folder.file("state"), withIntermediateDirectories: true)
    chmod(folder.path, 0o777)
    chmod(folder.file("state"), 0o777)
    chmod(file.path, 0o644)
    for companion in ["-lock", "-signal"] { chmod(file.path + companion, 0o666) }
    // Its owner may write it, unless this says otherwise.
    if geteuid() != 0 { chmod(file.path, 0o444) }
    let daemon = try DaemonProcess(
      folder,
      "watches: [{name: notes, file: $/notes.tarn, class: Note, sinks: [{file: $/out.jsonl}]}]\n",
      asOther: true)
    func model() throws -> NoteModel { try NoteModel(file: folder.file("out.jsonl")) }
    try await yieldUntil { try model().version == 1 }
    #expect(daemon.errors.contains("\(file.path) cannot be written: positions are in the state"))
    try file.put(2, "two")
    try await yieldUntil { try model().version == 2 }
    #expect(daemon.stop() == .exited(0))
    try file.put(3, "three")
    try daemon.restart()
    try await yieldUntil { try model().version == 3 }
    #expect(try model().notes == file.expected)
    #expect(try model().beginnings == ["snapshot"])
    #expect(try DaemonTestStore.cursors(file.path) == [])
    daemon.stop()
    // The record of the next version is there, and nothing shows that the file had the last one.
    try file.put(4, "four")
    try file.retain(1)
    try daemon.restart()
    try await yieldUntil { try model().version == 4 }
    #expect(try model().notes == file.expected)
    #expect(try model().beginnings == ["snapshot", "expired"])
    daemon.stop()
  }
}
