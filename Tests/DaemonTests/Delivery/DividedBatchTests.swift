import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Batches that are sent in parts, because their receivers refuse some objects.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct DividedBatchTests {
  private let folder = TemporaryFolder()

  private struct Request {
    let key: String
    let isTaken: Bool
    let body: JSONValue
    let text: String

    /// The versions of the objects in it.
    var objects: [String] {
      ["objects", "inserted", "modified", "replaced"].flatMap { kind -> [String] in
        guard case .array(let items)? = body[kind] else { return [] }
        return items.compactMap { $0["new"].map(JSONText.text) }
      }
    }
  }

  private func refuser(_ status: String) throws -> (ChildProcess, port: String) {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let process = try ChildProcess(
      "python3", [script.path, folder.file("taken"), status, "poison"])
    return (process, try #require(process.line { _ in true }))
  }

  private func requests() throws -> [Request] {
    var file = LineFile(folder.file("taken.all"))
    return try file.next().map { line in
      let json = try JSONScanner.value(in: line)
      guard case .string(let key)? = json["key"], case .string(let body)? = json["body"] else {
        throw ToolError("not a request: \(line)")
      }
      return Request(
        key: key, isTaken: json["taken"] == .bool(true), body: try JSONScanner.value(in: body),
        text: body)
    }
  }

  private func letters() throws -> Int {
    var file = LineFile(folder.file("dead"))
    return try file.next().count
  }

  private func configuration(_ port: String, _ extra: String = "") -> String {
    """
    http: {listen: $/http.sock}
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        delivery: {first-retry: 5ms, last-retry: 10ms}
        sinks: [{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: $/dead\(extra)}]
    """
  }

  private func expected(_ file: NoteFile) throws -> [Int: String] {
    try file.expected.filter { !$0.value.contains("poison") }
  }

  private func waitForAll(_ file: NoteFile, besides poison: Int) async throws {
    let expected = try expected(file)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == expected }
    try await yieldUntil { try letters() == poison }
  }

  private func status(_ key: String, of daemon: DaemonProcess) throws -> JSONValue? {
    let (text, _) = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
    guard case .array(let sinks)? = try JSONScanner.value(in: text)["sinks"] else { return nil }
    return sinks.first?[key]
  }

  /// One of 500 objects costs some twenty requests, whether they are a new beginning, one commit or
  /// a commit each.
  @Test(arguments: [0, 1, 500])
  func findsAnObjectByHalves(_ commits: Int) async throws {
    let (server, port) = try refuser("422")
    let file = try NoteFile(folder)
    let texts = Dictionary(
      uniqueKeysWithValues: (0..<500).map { ($0, $0 == 321 ? "poison" : "n") })
    if commits == 0 { try file.putAll(texts) }
    let daemon = try DaemonProcess(folder, configuration(port))
    if commits > 0 {
      try await yieldUntil { try requests().count == 1 }
      daemon.stop()
      if commits == 1 { try file.putAll(texts) }
      for (id, text) in texts where commits > 1 { try file.put(id, text) }
      try daemon.restart()
    }
    try await waitForAll(file, besides: 1)
    let all = try requests()
    #expect(all.count <= 30)
    let taken = all.filter(\.isTaken).flatMap(\.objects)
    #expect(taken.count == 499)
    #expect(Set(taken).count == 499)
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// Parts of a batch that were taken before one was refused are not sent again, and what follows
  /// says that it may have been.
  @Test(arguments: ["422", "500"])
  func sendsNoPartAgainThatWasTaken(_ status: String) async throws {
    let (server, port) = try refuser(status)
    let file = try NoteFile(folder)
    try file.put(0, "first")
    let daemon = try DaemonProcess(folder, configuration(port, ", body: 2kB"))
    try await waitForAll(file, besides: 0)
    daemon.stop()
    for id in 1...3 { try file.put(id, "before") }
    try file.putAll(
      Dictionary(uniqueKeysWithValues: (100..<200).map { ($0, $0 == 170 ? "poison" : "n") }))
    try daemon.restart()
    try await waitForAll(file, besides: 1)
    var bodies: [String: String] = [:]
    var keys: [String: String] = [:]
    for request in try requests() {
      #expect(bodies[request.key, default: request.text] == request.text)
      bodies[request.key] = request.text
      for object in request.objects where request.isTaken {
        #expect(keys[object, default: request.key] == request.key, "\(object) came twice")
        keys[object] = request.key
      }
    }
    // The parts are numbered through, and only the last one has the position.
    let parts = try requests().filter(\.isTaken).dropFirst()
    #expect(parts.count { $0.body["position"] != nil } == 1)
    #expect(parts.last?.body["more"] == nil)
    #expect(parts.contains { $0.body["repeated"] == .bool(true) })
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// A daemon that is killed goes on with the part that was on its way: a key has one body, and
  /// what comes with another key again says so.
  @Test(arguments: Seeds.of(1...10, first: 2))
  func goesOnAfterAKill(_ seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let (server, port) = try refuser("422")
    let file = try NoteFile(folder)
    try file.put(0, "first")
    let daemon = try DaemonProcess(folder, configuration(port, ", body: 1KiB"))
    try await waitForAll(file, besides: 0)
    var poison = 0
    for round in 1...Seeds.rounds(8, few: 3) {
      let id = round * 100
      let bad = Set((0..<3).map { _ in id + random.below(60) })
      poison += bad.count
      try file.put(id + 90, "before")
      try file.putAll(
        Dictionary(
          uniqueKeysWithValues: (id..<id + 60).map { ($0, bad.contains($0) ? "poison" : "n") }))
      let count = try requests().count + random.below(12)
      try await yieldUntil { try requests().count >= count }
      try daemon.killAndRestart()
    }
    let expected = try expected(file)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == expected }
    // An object may be given up again after a kill.
    try await yieldUntil { try letters() >= poison }
    var bodies: [String: String] = [:]
    var first: [String: String] = [:]
    for request in try requests() {
      #expect(bodies[request.key, default: request.text] == request.text)
      bodies[request.key] = request.text
      for object in request.objects where request.isTaken {
        #expect(
          first[object, default: request.key] == request.key
            || request.body["repeated"] == .bool(true), "\(object)")
        first[object] = first[object] ?? request.key
      }
    }
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// The parts of a new beginning say that the receiver may have them from the whole, also in the
  /// line that a program gets.
  @Test func marksThePartsOfANewBeginning() async throws {
    let (server, port) = try refuser("500")
    let script = try folder.file(
      "script",
      Array(
        """
        #!/bin/sh
        cat >$0.line
        echo "${TARN_REPEATED:-0} $(grep -c '"repeated":true' $0.line)" >>\(folder.path)/marks
        if grep -q poison $0.line; then exit 65; fi

        """.utf8))
    chmod(script, 0o755)
    let file = try NoteFile(folder)
    try file.putAll([1: "a", 2: "poison", 3: "b", 4: "c"])
    let daemon = try DaemonProcess(
      folder,
      configuration(port).replacingOccurrences(of: "$/dead}", with: "{file: $/dead, after: 1}}")
        .replacingOccurrences(
          of: "sinks: [", with: "sinks: [{exec: [$/script], dead-letters: $/other}, "))
    try await waitForAll(file, besides: 1)
    let all = try requests()
    #expect(all.count > 3)
    #expect(all.first?.body["repeated"] == nil)
    #expect(all.dropFirst().allSatisfy { $0.body["repeated"] == .bool(true) })
    #expect(all.allSatisfy { $0.body["objects"] != nil })
    try await yieldUntil { try lines("other").count == 1 && lines("marks").count == all.count }
    #expect(try lines("marks") == ["0 0"] + Array(repeating: "1 1", count: all.count - 1))
    daemon.stop()
    server.signal(SIGKILL)
  }

  private func lines(_ name: String) throws -> [String] {
    var file = LineFile(folder.file(name))
    return try file.next()
  }

  /// A batch that was sent in parts and is sent whole again, because there are no dead letters any
  /// more, has another key, and says that the receiver may have some of it.
  @Test func marksTheWholeAfterItsParts() async throws {
    let (server, port) = try refuser("422")
    let file = try NoteFile(folder)
    try file.put(0, "first")
    let daemon = try DaemonProcess(folder, configuration(port))
    try await waitForAll(file, besides: 0)
    daemon.stop()
    mkdir(folder.file("dead"), 0o700)
    try file.putAll([1: "a", 2: "b", 3: "c", 4: "poison"])
    try daemon.restart()
    try await yieldUntil { daemon.errors.contains("cannot write \(folder.path)/dead") }
    daemon.process.signal(SIGKILL)
    daemon.process.wait()
    let before = try requests()
    #expect(before.contains { $0.isTaken && $0.body["part"] != nil })
    try daemon.write(
      configuration(port).replacingOccurrences(of: ", dead-letters: $/dead", with: ""))
    try daemon.restart()
    try await yieldUntil { try requests().count >= before.count + 2 }
    // Nor does it forget that when it starts again.
    try daemon.killAndRestart()
    let count = try requests().count
    try await yieldUntil { try requests().count > count }
    let after = try requests().dropFirst(before.count)
    #expect(after.allSatisfy { $0.body["repeated"] == .bool(true) && $0.objects.count == 4 })
    #expect(Set(after.map(\.key)).count == 1)
    #expect(!before.contains { $0.key == after.first?.key })
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// A batch that is sent in other parts, since `body` was changed, has other keys: a receiver that
  /// ignores what it knows would lose objects.
  @Test(arguments: [true, false])
  func sendsPartsOfAnotherSizeWithOtherKeys(_ hasState: Bool) async throws {
    let (server, port) = try refuser("500")
    let file = try NoteFile(folder)
    try file.put(0, "first")
    func text(_ body: String) -> String {
      (hasState ? "" : DaemonProcess.withoutState)
        + configuration(port, ", body: \(body)")
        .replacingOccurrences(of: ", dead-letters: $/dead", with: "")
    }
    let daemon = try DaemonProcess(folder, text("1kB"))
    try await yieldUntil { try requests().count == 1 }
    daemon.process.signal(SIGSTOP)
    try file.putAll(
      Dictionary(uniqueKeysWithValues: (1..<40).map { ($0, $0 == 38 ? "poison" : "n") }))
    daemon.process.signal(SIGCONT)
    try await yieldUntil { try requests().last?.isTaken == false }
    let count = try requests().count
    try daemon.reload(text("2kB"))
    try await yieldUntil { try requests().last?.isTaken == false && requests().count > count + 4 }
    var bodies: [String: String] = [:]
    for request in try requests() {
      #expect(bodies[request.key, default: request.text] == request.text)
      bodies[request.key] = request.text
    }
    if hasState { #expect(try requests().last?.body["repeated"] == .bool(true)) }
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// The next part is sent when the operator allows it.
  @Test func pausesAndSkipsBetweenParts() async throws {
    let (server, port) = try refuser("422")
    let file = try NoteFile(folder)
    try file.putAll(Dictionary(uniqueKeysWithValues: (0..<2_000).map { ($0, "poison") }))
    let daemon = try DaemonProcess(folder, configuration(port))
    try await yieldUntil { try letters() >= 3 }
    func control(_ action: String) throws {
      let run = try DaemonProcess.run(
        [action, "notes", "webhook", "--config", daemon.configuration])
      #expect(run.end == .exited(0))
    }
    // All objects are owed.
    #expect(try status("behind", of: daemon) == .integer(Int64(try file.version)))
    try control("pause")
    let count = try requests().count
    #expect(try status("behind", of: daemon) == .integer(Int64(try file.version)))
    try control("skip")
    try await yieldUntil { try status("skipped", of: daemon) == .integer(1) }
    #expect(try requests().count <= count + 1)
    #expect(try status("behind", of: daemon) == .integer(0))
    // What is sent again is owed, too.
    try control("resend")
    try await yieldUntil {
      try status("behind", of: daemon) == .integer(Int64(try file.version))
    }
    #expect(try requests().count <= count + 1)
    #expect(daemon.stop() == .exited(0))
    server.signal(SIGKILL)
  }
}
