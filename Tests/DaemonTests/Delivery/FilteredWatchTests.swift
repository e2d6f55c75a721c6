import Foundation
import Tarn
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Watches with a filter: which objects begin and cease to match.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct FilteredWatchTests {
  final class Other: Object {
    @Persisted(primaryKey: true) var id: Int
  }

  private let folder = TemporaryFolder()

  private func configuration(_ extra: String = "") -> String {
    """
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        where: count > 2\(extra)
        sinks: [{file: $/out.jsonl}, {socket: $/notes.sock}]
    """
  }

  private func lines() throws -> [JSONValue] {
    var file = LineFile(folder.file("out.jsonl"))
    return try file.next().map { try JSONScanner.value(in: $0) }
  }

  /// A file without the class of the watch.
  private func makeFile(_ path: String) throws {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Other.self])
    configuration.durability = .relaxed
    _ = try Realm(configuration: configuration)
  }

  /// The change of the only object of a kind.
  private func only(_ kind: String, in line: JSONValue?) -> JSONValue? {
    guard case .array(let items)? = line?[kind], items.count == 1 else { return nil }
    return items[0]
  }

  /// Whatever else changes in an object, and without being asked for old values.
  @Test func listsWhatBeginsToMatchAsEntered() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration())
    let client = try LineClient(folder.file("notes.sock"), "{}\n")
    #expect(try client.json()["fullResync"] == .string("snapshot"))
    try await yieldUntil { try lines().count == 1 }
    try file.put(1, "two", count: 9)
    try await yieldUntil { try lines().count == 2 }
    for line in [try lines().last, try client.json()] {
      let entered = try #require(only("entered", in: line))
      #expect(entered["key"] == .integer(1))
      #expect(entered["new"]?["text"] == .string("two"))
      #expect(entered["old"] == nil)
      #expect(line?["modified"] == nil)
    }
    try file.put(1, "three", count: 8)
    try await yieldUntil { try lines().count == 3 }
    #expect(try only("modified", in: lines().last)?["key"] == .integer(1))
    daemon.stop()
    // Asked for them, it delivers them.
    try daemon.write(configuration("\n    old-values: true"))
    try daemon.restart()
    try file.put(1, "four", count: 7)
    try await yieldUntil { try lines().count == 4 }
    let old = try only("modified", in: lines().last)?["old"]
    #expect(old?["text"] == .string("three"))
    daemon.stop()
  }

  /// Whatever the daemon keeps them for: to repeat requests, or for a filter.
  @Test(arguments: [false, true])
  func deliversOldValuesOnlyIfAskedFor(_ asks: Bool) async throws {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let server = try ChildProcess(
      "python3", [script.path, folder.file("taken"), "422", "poison"])
    let port = try #require(server.line { _ in true })
    let file = try NoteFile(folder)
    try file.put(1, "one", count: 3)
    let daemon = try DaemonProcess(
      folder,
      """
      watches:
        - name: notes
          file: $/notes.tarn
          classes: [{class: Note, where: count > 2, columns: [text, count]}]
          old-values: \(asks)
          delivery: {every-commit: true, first-retry: 5ms, last-retry: 5ms}
          sinks:
            - {webhook: 'http://127.0.0.1:\(port)/x', dead-letters: $/dead}
            - {file: $/out.jsonl}
            - {exec: [sh, -c, 'cat >>$/run.jsonl']}
      """)
    let names = ["taken", "out.jsonl", "run.jsonl"]
    for name in names { try await yieldUntil { try text(name).contains("fullResync") } }
    try file.put(1, "two", count: 4)
    try file.put(2, "fine", count: 4)
    try file.put(2, "poison", count: 5)
    try file.delete(1)
    for name in names { try await yieldUntil { try text(name).contains("\"deleted\"") } }
    try await yieldUntil { try text("dead").contains("poison") }
    for name in names + ["dead"] { #expect(try text(name).contains("\"old\"") == asks, "\(name)") }
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// A request that an earlier version, which delivered old values of all watches, began to send
  /// has the same body, however often this version starts.
  @Test func repeatsOldValuesOfAnEarlierVersion() async throws {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let server = try ChildProcess(
      "python3", [script.path, folder.file("taken"), "500", "poison"])
    let port = try #require(server.line { _ in true })
    let file = try NoteFile(folder)
    try file.put(1, "one", count: 3)
    let daemon = try DaemonProcess(
      folder,
      """
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          where: count > 2
          delivery: {first-retry: 5ms, last-retry: 5ms}
          sinks: [{webhook: 'http://127.0.0.1:\(port)/x'}]
      """)
    try await yieldUntil { try text("taken").contains("fullResync") }
    daemon.process.signal(SIGSTOP)
    try file.put(1, "poison", count: 4)
    daemon.process.signal(SIGCONT)
    func hasOld(_ count: Int) async throws -> [Bool] {
      try await yieldUntil { try requests().count >= count }
      return try requests().dropFirst().map { $0.contains("\"old\"") }
    }
    #expect(try await hasOld(3).allSatisfy { !$0 })
    daemon.process.signal(SIGKILL)
    daemon.process.wait()
    // Earlier versions did not note the boot at the end of the file.
    let position = try #require(positions().first)
    let data = try #require(FileManager.default.contents(atPath: position))
    try data.dropLast(36).write(to: URL(fileURLWithPath: position))
    var count = try requests().count
    for _ in 1...2 {
      try daemon.restart()
      #expect(try await hasOld(count + 3).dropFirst(count).allSatisfy { $0 })
      daemon.process.signal(SIGKILL)
      daemon.process.wait()
      count = try requests().count
    }
    server.signal(SIGKILL)
  }

  private func requests() throws -> [String] {
    var file = LineFile(folder.file("taken.all"))
    return try file.next().map { line in
      guard case .string(let body)? = try JSONScanner.value(in: line)["body"] else { return "" }
      return body
    }
  }

  private func positions() throws -> [String] {
    let root = folder.file("state/positions")
    let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return try names.map { "\(root)/\($0)" }.filter { path in
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        && !isFolder.boolValue && (size ?? 0) > 1_000
    }
  }

  private func text(_ name: String) throws -> String {
    let data = FileManager.default.contents(atPath: folder.file(name)) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  @Test func warnsWhereItCannotAskForOldValues() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one", count: 3)
    try makeReadOnly(file)
    let daemon = try DaemonProcess(folder, configuration(), asOther: true)
    #expect(daemon.errors.contains("'left' and 'deleted' may list objects that matched"))
    daemon.stop()
  }

  /// Also where no cursor in the file knows what was selected before.
  @Test func startsAnewWithAnotherFilter() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one", count: 1)
    try file.put(2, "two", count: 3)
    try makeReadOnly(file)
    let daemon = try DaemonProcess(
      folder, configuration("\n    start: newest"), asOther: true)
    daemon.stop()
    #expect(try lines().isEmpty)
    try daemon.write(configuration())
    try daemon.restart()
    try await yieldUntil { try lines().count == 1 }
    daemon.stop()
    try daemon.write(
      configuration("\n    start: newest").replacingOccurrences(of: "> 2", with: "> 0"))
    try daemon.restart()
    try await yieldUntil { try lines().count == 2 }
    var model = LineModel()
    for line in try lines() { try model.apply(line) }
    #expect(model.objects.keys.sorted() == ["1", "2"])
    #expect(model.beginnings.count == 2)
    // Only once.
    daemon.stop()
    try daemon.restart()
    daemon.stop()
    #expect(try lines().count == 2)
  }

  private func makeReadOnly(_ file: NoteFile) throws {
    chmod(folder.path, 0o777)
    try FileManager.default.createDirectory(
      atPath: folder.file("state"), withIntermediateDirectories: true)
    chmod(folder.file("state"), 0o777)
    chmod(file.path, 0o644)
    for companion in ["-lock", "-signal"] { chmod(file.path + companion, 0o666) }
    if geteuid() != 0 { chmod(file.path, 0o444) }
  }

  /// `start: newest` is for what was there when the watch began; a class may come later.
  @Test func deliversAClassThatAppearsLaterFromItsBeginning() async throws {
    let path = folder.file("notes.tarn")
    try makeFile(path)
    let daemon = try DaemonProcess(
      folder,
      configuration("\n    start: newest"))
    try await yieldUntil { daemon.errors.contains("waiting for the class 'Note'") }
    let file = try NoteFile(folder)
    try file.put(1, "one", count: 3)
    try file.put(2, "two", count: 4)
    func model() throws -> LineModel {
      var model = LineModel()
      for line in try lines() { try model.apply(line) }
      return model
    }
    try await yieldUntil { try model().objects.keys.sorted() == ["1", "2"] }
    #expect(try model().beginnings == ["snapshot"])
    daemon.stop()
  }
}
