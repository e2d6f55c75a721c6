import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// What `check` and a reload find before anything runs.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct CheckTests {
  private let folder = TemporaryFolder()

  private func write(_ text: String) throws -> String {
    let whole = text.replacingOccurrences(of: "$", with: folder.path)
    return try folder.file("watch.yaml", Array(whole.utf8))
  }

  private func check(_ text: String, _ more: [String] = []) throws -> (text: String, code: Int32) {
    let (text, end) = try DaemonProcess.run(["check", "--config", try write(text)] + more)
    guard case .exited(let code) = end else { throw ToolError("check was killed: \(text)") }
    return (text.replacingOccurrences(of: folder.path, with: "$"), code)
  }

  private static func watch(_ name: String, _ sink: String, _ more: String = "") -> String {
    "  - {name: \(name), file: $/notes.tarn, class: Note, \(more)sinks: [{\(sink)}]}\n"
  }

  /// Programs that cannot run, and paths that would destroy what the daemon reads.
  @Test func namesProgramsAndPathsThatCannotWork() throws {
    _ = try NoteFile(folder)
    chmod(try folder.file("script", Array("#!$/no-sh -e\n".utf8)), 0o755)
    chmod(try folder.file("own", Array("#!/bin/sh\n".utf8)), 0o700)
    chmod(folder.path, 0o755)
    let long = String(repeating: "n", count: 300)
    let isRoot = geteuid() == 0
    let (found, _) = try check(
      "watches:\n" + Self.watch("a", "exec: [$/script]") + Self.watch("b", "file: $/\(long)")
        + Self.watch("c", "exec: [$/own]\(isRoot ? ", user: nobody" : "")"))
    #expect(found.contains("a/exec: $/script begins with '#!$/no-sh', and there is no such"))
    #expect(found.contains("b/file: $/\(long): the name $/\(long) is too long"))
    #expect(found.contains("c/exec: the user nobody cannot run $/own") == isRoot)
    // These are known from the configuration itself.
    _ = try folder.file("token", Array("0123456789abcdef\n".utf8))
    let (other, code) = try check(
      "http: {listen: $/a.sock, token-file: $/token}\nwatches:\n"
        + Self.watch("a", "file: $/watch.yaml") + Self.watch("b", "file: $/token")
        + Self.watch("c", "socket: $/./a.sock"))
    #expect(code == 1)
    for name in ["watch.yaml", "token"] {
      #expect(other.contains("$/\(name) is a file that the daemon reads"), "\(other)")
    }
    #expect(other.contains("there are two uses of the socket '$/a.sock'"), "\(other)")
  }

  /// The system would take the beginning of the path, and a daemon of another user its folder.
  @Test func namesSocketsAndFoldersThatCannotWork() throws {
    let long = "/" + String(repeating: "s", count: 107)
    let (found, code) = try check(
      "state: /\(String(repeating: "n", count: 300))\nhttp: {listen: \(long)}\nwatches:\n"
        + Self.watch("a", "socket: \(long)"))
    #expect(code == 1)
    for key in ["http.listen", "watches[0].sinks[0].socket"] {
      #expect(found.contains("\(key): the path is longer than 107 bytes"), "\(found)")
    }
    let (state, _) = try check("state: /\(String(repeating: "n", count: 300))\nwatches: []\n")
    #expect(state.contains("problem: state: the name /nnn"), "\(state)")
    guard geteuid() == 0 else { return }
    chmod(folder.path, 0o755)
    try #require(mkdir(folder.file("watch.d"), 0o700) == 0)
    let run = try ChildProcess(
      "setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", OwnProgram.sibling("tarn-daemon")]
        + ["check", "--config", folder.file("watch.d")])
    let (lines, end) = run.finish()
    #expect(end == .exited(1))
    #expect(lines.joined().contains("may not read the folder \(folder.file("watch.d"))"))
  }

  /// Somebody meant something by what an action would ignore.
  @Test(arguments: [
    ["run", "--user", "nobody"], ["check", "w"], ["reload", "--json"], ["check", "--verbose"],
    ["try", "a", "file", "--file", "/a"], ["pause", "a", "file", "--file", "/a"],
    ["--schema", "--json"], ["run", "--manual"],
  ])
  func refusesWhatItWouldIgnore(_ words: [String]) throws {
    let path = try write("watches:\n" + Self.watch("a", "file: $/out"))
    let (_, end) = try DaemonProcess.run(words + ["--config", path])
    #expect(end == .exited(2))
  }

  @Test func namesWhatCannotWork() throws {
    let file = try NoteFile(folder)
    for name in ["empty", "text"] { _ = try folder.file(name, Array((name + "\n").utf8)) }
    _ = try folder.file("nothing", [])
    let faults = [
      ("exec: [no-such-program]", "", "w0/exec: there is no program no-such-program"),
      ("exec: [$/missing]", "", "w1/exec: there is no program $/missing"),
      ("exec: [$]", "", "w2/exec: $ is not a program"),
      ("file: $", "", "w3/file: $: it is a folder"),
      ("file: $/no/out.jsonl", "", "w4/file: $/no/out.jsonl: there is no folder $/no"),
      ("socket: $/no/s.sock", "", "w5/socket: there is no folder $/no"),
      ("socket: $/text", "", "w6/socket: $/text is not a socket"),
      ("webhook: 'http://'", "", "w7/webhook: 'http://' is not a URL"),
      (
        "webhook: 'https://h/x', secret-file: $/no", "",
        "w8/webhook: secret: there is no file $/no"
      ),
      (
        "webhook: 'https://h/x', secret-file: $/nothing", "",
        "w9/webhook: secret: the secret in $/nothing is empty"
      ),
      (
        "webhook: 'https://h/x', certificates: $/text", "",
        "w10/webhook: certificates: $/text has no certificate"
      ),
      ("exec: ['true']", "where: nme == 1, ", "w11: $/notes.tarn: Invalid filter \"nme == 1\""),
      ("exec: ['true']", "where: text ==, ", "w12: Invalid filter \"text ==\""),
      ("exec: ['true']", "columns: [nme], ", "w13: $/notes.tarn: Class 'Note' has no property"),
    ]
    var text = "state: $/text\nhttp: {listen: $/http.sock, token-file: $/no}\nwatches:\n"
    for (number, (sink, more, _)) in faults.enumerated() {
      text += Self.watch("w\(number)", sink, more)
    }
    text += "  - {name: x, file: $/notes.tarn, class: Nt, sinks: [{exec: ['true']}]}\n"
    text += "sync: [{file: $/notes.tarn, server: 'postgresql://h/d', where: ['No: id == 1'], "
    text += "passfile: $/no}]\n"
    let (found, code) = try check(text)
    #expect(code == 1)
    let lines = found.split(separator: "\n").map(String.init)
    let more = [
      "state: $/text is not a folder", "http.token: there is no file $/no",
      "sync: passfile: there is no file $/no",
      "sync: $/notes.tarn: --where: the store does not have a class No",
    ]
    for wanted in faults.map(\.2) + more {
      #expect(lines.contains { $0.hasPrefix("problem: " + wanted) }, "\(wanted) in \(found)")
    }
    #expect(
      lines.contains(
        "warning: x: $/notes.tarn: waiting for the class 'Nt', which may be misspelt: there are "
          + "'Note'"))
    #expect(
      lines.last == "$/watch.yaml: 15 watches, \(faults.count + more.count) problems, 1 warning")
    #expect(!FileManager.default.fileExists(atPath: folder.file("out.jsonl")))
    withExtendedLifetime(file) {}
  }

  @Test(arguments: ["where: null", "where: ~", "where:", "columns: null", "columns: [a, ~]"])
  func refusesKeysWithoutAValue(_ key: String) throws {
    let (found, code) = try check(
      "watches:\n  - name: a\n    file: $/notes.tarn\n    class: Note\n    \(key)\n"
        + "    sinks: [{exec: ['true']}]\n")
    #expect(code == 1)
    #expect(found.hasPrefix("$/watch.yaml:5: watches[0].\(key.prefix { $0 != ":" }): needs"))
  }

  @Test func goodOnesHaveNoProblem() throws {
    let file = try NoteFile(folder)
    let text =
      "watches:\n" + Self.watch("a", "file: $/out.jsonl") + Self.watch("b", "exec: [cat]")
      + "  - {name: c, file: '$/*.later', class: Later, sinks: [{socket: $/c.sock}]}\n"
    let (found, code) = try check(text)
    #expect(code == 0)
    #expect(found == "note: c: no file matches $/*.later yet\n$/watch.yaml: 3 watches, no problem")
    withExtendedLifetime(file) {}
  }

  /// One of several stores that cannot be opened now, or lacks the class, is worth a note.
  @Test func storesOfAPatternAreNotes() throws {
    let file = try NoteFile(folder)
    _ = try folder.file("bad.tarn", Array(String(repeating: "no store ", count: 2000).utf8))
    let (found, code) = try check(
      "watches:\n  - {name: a, file: '$/*.tarn', class: Note, sinks: [{exec: ['true']}]}\n")
    #expect(code == 0)
    #expect(found.contains("a: $/bad.tarn: "))
    let (named, failed) = try check(
      "watches:\n  - {name: a, file: $/bad.tarn, class: Note, sinks: [{exec: ['true']}]}\n",
      // Files beside it are its user's then.
      ["--user", NSUserName()])
    #expect(failed == 1)
    #expect(named.contains("a: $/bad.tarn: "))
    withExtendedLifetime(file) {}
  }

  /// What is wrong with each of several classes, and what else than a file fits a pattern.
  @Test func looksAtEachClassAndEachPath() throws {
    let file = try NoteFile(folder)
    try FileManager.default.createDirectory(
      atPath: folder.file("x\u{1b}.tarn"), withIntermediateDirectories: false)
    mkfifo(folder.file("pipe.tarn"), 0o600)
    let (found, code) = try check(
      """
      watches:
        - name: a
          file: $/*.tarn
          classes: [{class: Note, columns: [nme]}, {class: Later, where: 'a =='}]
          sinks: [{exec: ['true']}]
        - name: b
          file: $/*.tarn
          classes: [{class: Note, columns: [nme]}, {class: Later, where: 'a == 1'}]
          sinks: [{exec: ['true']}]
      """)
    #expect(code == 1)
    for line in [
      "problem: a: Invalid filter \"a ==\"",
      "problem: b: $/notes.tarn: Class 'Note' has no property 'nme'",
      "problem: b: $/pipe.tarn: it is a pipe, not a store",
      #"problem: b: $/x\u{1b}.tarn: it is a folder, not a store"#,
      "warning: b: $/*.tarn: waiting for the class 'Later', which may be misspelt",
    ] {
      #expect(found.contains(line), "\(line) in \(found)")
    }
    withExtendedLifetime(file) {}
  }

  @Test func followsLinksToOutputs() throws {
    let file = try NoteFile(folder)
    for (name, target) in [
      ("lost", "\(folder.path)/no/out"), ("good", "out.jsonl"), ("round", "round"),
    ] {
      symlink(target, folder.file(name))
    }
    let (found, code) = try check(
      "state: $/lost\nwatches:\n" + Self.watch("a", "file: $/lost")
        + Self.watch("b", "exec: [cat], dead-letters: $/lost") + Self.watch("c", "file: $/good")
        + Self.watch("d", "file: $/round") + Self.watch("e", "socket: $/lost"))
    #expect(code == 1)
    for line in [
      "state: $/lost is a link to a folder that is not there",
      "a/file: $/lost: there is no folder $/no",
      "b/exec: dead-letters: $/lost: there is no folder $/no",
      "d/file: $/round: $/round is a link that leads to itself",
      "e/socket: $/lost is a link, at which no socket can be made",
    ] {
      #expect(found.contains("problem: \(line)"), "\(line) in \(found)")
    }
    #expect(found.hasSuffix("5 watches, 5 problems"))
    withExtendedLifetime(file) {}
  }

  @Test(arguments: [
    (Array("ab\nc".utf8), "contains a line break"), ([0x61, 0, 0x62], "contains a line break"),
    ([0xff, 0x61], "is not UTF-8"),
  ])
  func readsTheSecretsOfHeaders(_ secret: [UInt8], _ fault: String) throws {
    let file = try NoteFile(folder)
    _ = try folder.file("token", secret)
    let (found, code) = try check(
      "watches:\n"
        + Self.watch("a", "webhook: 'https://h/x', headers: [{name: A, file: $/token}]"))
    #expect(code == 1)
    #expect(
      found.contains("problem: a/webhook: headers: the secret for the header A \(fault)"),
      "\(found)"
    )
    withExtendedLifetime(file) {}
  }

  /// As `run` would fail for a user who can read a store, and not follow it.
  @Test(.enabled(if: geteuid() == 0))
  func findsStoresThatTheUserCannotFollow() throws {
    let file = try NoteFile(folder)
    for path in [file.path, file.path + "-lock", file.path + "-signal"] { chmod(path, 0o644) }
    chmod(folder.path, 0o755)
    mkdir(folder.file("own"), 0o700)
    mkdir(folder.file("state"), 0o777)
    chmod(folder.file("state"), 0o777)
    func found(_ text: String) throws -> String {
      let (found, code) = try check(text, ["--user", "nobody"])
      #expect(code == 1)
      return found
    }
    let watches = "watches:\n" + Self.watch("a", "exec: ['true']")
    #expect(
      try found("state: $/state\n" + watches).contains(
        "problem: a: $/notes.tarn: the file cannot be followed: this user cannot write its lock"))
    // Siblings: what the user cannot see, and positions of another user.
    for (pattern, reason) in [
      ("$/own/*.tarn", "the user nobody cannot look into $/own"),
      ("$/own/x.tarn", "$/own/x.tarn: it cannot be looked at: Permission denied"),
    ] {
      let text = watches.replacingOccurrences(of: "$/notes.tarn", with: "'\(pattern)'")
      #expect(try found("state: $/state\n" + text).contains("problem: a: \(reason)"))
    }
    let positions = folder.file("state/positions/watch/a/exec")
    try FileManager.default.createDirectory(atPath: positions, withIntermediateDirectories: true)
    #expect(
      try found("state: $/state\n" + watches).contains(
        "problem: state: the user nobody may not make files in "
          + "$/state/positions/watch/a/exec"))
    // Readable, and followed, but not writable.
    for ending in ["-lock", "-signal"] { chmod(file.path + ending, 0o666) }
    #expect(
      try found(watches).contains(
        "problem: a: $/notes.tarn: cannot be written, and there is no folder for positions"))
    withExtendedLifetime(file) {}
  }

  /// Root makes no files beside a store, which its user could not use then.
  @Test func leavesNothingBesideAStoreAsRoot() throws {
    let file = try NoteFile(folder)
    try FileManager.default.copyItem(atPath: file.path, toPath: folder.file("copy.tarn"))
    let (_, code) = try check(
      "watches:\n  - {name: a, file: $/copy.tarn, class: Note, sinks: [{exec: ['true']}]}\n")
    #expect(code == 0)
    let isThere = FileManager.default.fileExists(atPath: folder.file("copy.tarn-lock"))
    #expect(isThere == (geteuid() != 0))
  }

  @Test func checksAsAnotherUser() throws {
    _ = try NoteFile(folder)
    chmod(folder.path, 0o755)
    try FileManager.default.createDirectory(
      atPath: folder.file("own"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    let text = "watches:\n" + Self.watch("a", "file: $/own/out.jsonl")
    #expect(try check(text).code == 0)
    let (found, code) = try check(text, ["--user", "nobody"])
    // Others cannot become that user.
    #expect(code == (geteuid() == 0 ? 1 : 2))
    if geteuid() == 0 {
      #expect(found.contains("a/file: $/own/out.jsonl: the user nobody may not"))
    }
    #expect(try check(text, ["--user", "no-such-user"]).code == 1)
  }

  @Test func theRunningDaemonIsNobodyElse() throws {
    _ = try NoteFile(folder)
    let text =
      "name: test\nhttp: {listen: $/http.sock}\nwatches:\n" + Self.watch("a", "socket: $/a.sock")
    let daemon = try DaemonProcess(folder, text)
    let (found, code) = try check("state: $/state\n" + text)
    #expect(code == 0, "\(found)")
    // Of another configuration they are somebody else's.
    let (other, failed) = try check(text.replacingOccurrences(of: "name: test", with: "name: b"))
    #expect(failed == 1)
    #expect(other.contains("a/socket: another process listens at $/a.sock"))
    #expect(other.contains("http.listen: another process listens at $/http.sock"))
    daemon.stop()
  }

  @Test func aReloadKeepsWhatRuns() async throws {
    let file = try NoteFile(folder)
    let door = "http: {listen: $/http.sock}\n"
    let good = door + "watches:\n" + Self.watch("a", "file: $/out.jsonl")
    let daemon = try DaemonProcess(folder, good)
    func reload() throws -> (text: String, end: ChildProcess.End) {
      try DaemonProcess.run(["reload", "--config", daemon.configuration])
    }
    for (bad, reason) in [
      ("file: $/no/out.jsonl", "there is no folder"), ("exec: [$/missing]", "there is no program"),
    ] {
      try daemon.write(door + "watches:\n" + Self.watch("a", bad) + Self.watch("b", "exec: [cat]"))
      let (text, end) = try reload()
      #expect(end == .exited(1))
      #expect(text.contains(reason), "\(text)")
    }
    // Another mode of its socket needs no other socket.
    try daemon.write(good.replacingOccurrences(of: "$/http.sock", with: "$/http.sock, mode: 0660"))
    #expect(try reload().end == .exited(0))
    try file.put(1, "one")
    try await yieldUntil { try NoteModel(file: folder.file("out.jsonl")).notes == [1: "one 0"] }
    // What is wrong with a watch that runs keeps no other one from beginning.
    unlink(folder.file("out.jsonl"))
    try daemon.write(
      good + "  - {name: b, file: $/notes.tarn, class: Note, sinks: [{file: $/b.jsonl}]}\n")
    #expect(try reload().end == .exited(0))
    try await yieldUntil { try NoteModel(file: folder.file("b.jsonl")).notes == [1: "one 0"] }
    daemon.stop()
  }

  @Test func comparesWithTheUnit() throws {
    let path = try write(
      """
      watches:
        - {name: a, file: /srv/a/x.tarn, class: A, sinks: [{file: /var/log/t/a.jsonl}]}
        - {name: b, file: /home/me/b.tarn, class: B, sinks: [{socket: /tmp/b.sock}]}
      """)
    let (settings, problems) = ConfigurationFiles(path).read()
    #expect(problems == [])
    let unit = UnitProperties(
      "tarn.service",
      """
      LoadState=loaded
      User=tarn
      SupplementaryGroups=shop staff
      ReadWritePaths=-/srv /home/me
      ProtectSystem=strict
      ProtectHome=read-only
      PrivateTmp=yes
      """)
    #expect(unit.user == "tarn")
    #expect(unit.groups == ["shop", "staff"])
    let found = unit.findings(settings).filter { $0.kind == .problem }.map(\.description)
    let wayOut = "; 'tarn daemon check --unit' prints the lines that it lacks"
    #expect(
      found == [
        "tarn.service: it may not write /tmp\(wayOut)",
        "tarn.service: it may not write /var/log/t\(wayOut)",
        "tarn.service: it may not use /home/me/b.tarn\(wayOut)",
        "tarn.service: it has a /tmp of its own, in which nobody else finds /tmp/b.sock: choose "
          + "another place",
      ])
    #expect(UnitProperties.unit(of: "/etc/tarn/watch.d") == "tarn.service")
    #expect(UnitProperties.unit(of: "/etc/tarn/shop.yaml") == "tarn@shop.service")
    #expect(UnitProperties.unit(of: "/etc/other/shop.yaml") == nil)
  }
}
