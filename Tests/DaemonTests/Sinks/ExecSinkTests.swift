import Foundation
import TestSupport
import Testing
import ToolSupport

/// The exec sink of a real daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ExecSinkTests {
  private let folder = TemporaryFolder()

  /// A watch whose command is a script; `extra` are further keys of the sink. The test may be held
  /// up for minutes on a busy machine, while a run waits for it.
  private func configuration(
    _ script: String, _ extra: String = "timeout: 1h"
  ) throws -> String {
    let path = try folder.file("script", Array("#!/bin/sh\n\(script)\n".utf8))
    chmod(path, 0o755)
    return """
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          delivery: {first-retry: 10ms, last-retry: 20ms}
          sinks: [{exec: [$/script], \(extra)}]
      """
  }

  private func lines(_ name: String) -> [String] {
    FileManager.default.contents(atPath: folder.file(name)).map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
    } ?? []
  }

  @Test func feedsTheBatchAndNamesItInTheEnvironment() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      try configuration(
        "cat >>\(folder.path)/out\n"
          + "echo \"$TARN_WATCH $TARN_CLASS $TARN_VERSION $TARN_FULL_RESYNC\" "
          + ">>\(folder.path)/names"
      ))
    try await yieldUntil { lines("names") == ["notes Note 1 snapshot"] }
    try file.put(2, "two")
    try await yieldUntil { lines("names").contains("notes Note 2 ") }
    #expect(lines("names") == ["notes Note 1 snapshot", "notes Note 2 "])
    #expect(try NoteModel(file: folder.file("out")).notes == file.expected)
    daemon.stop()
  }

  /// Changes that come while it runs are one more run.
  @Test func mergesWhatComesMeanwhile() async throws {
    let file = try NoteFile(folder)
    mkfifo(folder.file("gate"), 0o600)
    // Each run waits until the test lets it go on. It may have opened the gate before the write
    // that let the former one go on was closed, and reads nothing then.
    let daemon = try DaemonProcess(
      folder,
      try configuration(
        "cat >>\(folder.path)/out; echo run >>\(folder.path)/runs; "
          + "until read x <\(folder.path)/gate; do :; done"))
    try await yieldUntil { lines("runs").count == 1 }
    for id in 1...5 { try file.put(id, "n") }
    try open("gate")
    try await yieldUntil { lines("runs").count == 2 }
    try open("gate")
    try await yieldUntil { try NoteModel(file: folder.file("out")).version == file.version }
    #expect(lines("runs").count == 2)
    #expect(try NoteModel(file: folder.file("out")).notes == file.expected)
    #expect(daemon.stop() == .exited(0))
    #expect(lines("runs").count == 2)
  }

  private func open(_ gate: String) throws {
    let handle = try #require(FileHandle(forWritingAtPath: folder.file(gate)))
    try handle.write(contentsOf: Data("x\n".utf8))
    try handle.close()
  }

  @Test func triesAgainUntilItExitsWithZero() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      try configuration(
        "cat >>\(folder.path)/out; echo run >>\(folder.path)/runs; "
          + "test $(wc -l <\(folder.path)/runs) -ge 3"))
    try await yieldUntil { lines("runs").count == 3 }
    try file.put(2, "two")
    try await yieldUntil { lines("runs").count == 4 }
    let failures = daemon.errors.split(separator: "\n").filter {
      $0.contains("script exited with 1")
    }
    #expect(failures.count == 2)
    try await yieldUntil { try NoteModel(file: folder.file("out")).notes == file.expected }
    daemon.stop()
  }

  @Test func passesKeys() async throws {
    let file = try NoteFile(folder)
    for id in 1...3 { try file.put(id, "n") }
    let text = try configuration("echo \"$@\" >>\(folder.path)/keys")
      .replacingOccurrences(of: "[$/script]", with: "[$/script, keys, '{key}', end]")
    let daemon = try DaemonProcess(folder, text)
    try await yieldUntil { lines("keys").count == 1 }
    try file.delete(2)
    try await yieldUntil { lines("keys").count == 2 }
    #expect(lines("keys") == ["keys 1 2 3 end", "keys 2 end"])
    daemon.stop()
  }

  @Test func endsWhatTakesTooLong() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      try configuration(
        "if mkdir \(folder.path)/once 2>/dev/null; then trap '' TERM; sleep 600 & wait; "
          + "while :; do sleep 600; done; fi; cat >\(folder.path)/out",
        "timeout: 100ms, grace: 50ms"))
    try await yieldUntil { try NoteModel(file: folder.file("out")).notes == file.expected }
    #expect(daemon.errors.contains("script did not end within 0.10 s"))
    daemon.stop()
  }

  /// SIGTERM ends a command; its batch is not acknowledged and comes again.
  @Test func endsWithTheDaemon() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      try configuration(
        "echo run >>\(folder.path)/runs; test -e \(folder.path)/go || exec sleep 600; "
          + "cat >\(folder.path)/out"))
    try await yieldUntil { lines("runs").count == 1 }
    let began = ContinuousClock.now
    #expect(daemon.stop() == .exited(0))
    #expect(ContinuousClock.now - began < .seconds(5))
    _ = try folder.file("go", [])
    try daemon.restart()
    try await yieldUntil { try NoteModel(file: folder.file("out")).notes == file.expected }
    daemon.stop()
  }

  @Test func namesAProgramThatCannotStart() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let text = try configuration("").replacingOccurrences(of: "[$/script]", with: "[$/nothing]")
    let daemon = try DaemonProcess(folder, text)
    let wanted = "cannot start \(folder.path)/nothing: No such file or directory"
    try await yieldUntil { daemon.errors.contains(wanted) }
    daemon.stop()
  }

  @Test func limitsHowManyRun() async throws {
    var watches = "commands: 2\nwatches:\n"
    _ = try configuration(
      "echo + >>\(folder.path)/runs; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; "
        + "echo - >>\(folder.path)/runs")
    for number in 1...8 {
      watches += """
          - {name: w\(number), file: $/notes.tarn, class: Note, sinks: [{exec: [$/script]}]}

        """
    }
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, watches)
    try await yieldUntil { lines("runs").count { $0 == "-" } == 8 }
    var (running, most) = (0, 0)
    for line in lines("runs") {
      running += line == "+" ? 1 : -1
      most = max(most, running)
    }
    #expect(most <= 2)
    daemon.stop()
  }

  /// Each of many sinks is served without another commit, however often each had to wait.
  @Test func sinksShareTheCommandsThatMayRun() async throws {
    let file = try NoteFile(folder)
    let script = try folder.file(
      "script", Array("#!/bin/sh\ncat >>\(folder.path)/out-$TARN_WATCH\n".utf8))
    chmod(script, 0o755)
    let watches = (1...6).map { number in
      """
        - name: w\(number)
          file: $/notes.tarn
          class: Note
          sinks: [{exec: [$/script], timeout: 1h}]

      """
    }
    let daemon = try DaemonProcess(folder, "commands: 1\nwatches:\n" + watches.joined())
    for round in 1...10 {
      for id in 1...5 { try file.put(id, "n", count: round) }
      let version = try file.version
      for number in 1...6 {
        let output = folder.file("out-w\(number)")
        try await yieldUntil { try NoteModel(file: output).version == version }
        #expect(try NoteModel(file: output).notes == file.expected)
      }
    }
    #expect(daemon.stop() == .exited(0))
  }

  /// The daemon that follows runs it again, and not beside it.
  @Test func aCommandEndsWithADaemonThatIsKilled() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    // With what it has started.
    let daemon = try DaemonProcess(
      folder,
      try configuration(
        "echo $$ >>\(folder.path)/runs; sleep 600 & echo $! >>\(folder.path)/runs; exec sleep 600"))
    try await yieldUntil { lines("runs").count == 2 }
    daemon.process.signal(SIGKILL)
    daemon.process.wait()
    for process in lines("runs") {
      try await yieldUntil {
        // Its parent is gone, so it may stay as a name without a process.
        let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return status?.contains(") Z ") ?? true
      }
    }
  }
}
