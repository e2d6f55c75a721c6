import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Daemons whose limit of file descriptors is low.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct FewDescriptorsTests {
  private let folder = TemporaryFolder()

  /// Starts a program with that limit, and without the descriptors that the test process would
  /// leave to it.
  private static func limit(_ count: Int) -> [String] {
    let script = """
      import os, resource, sys
      os.closerange(3, 4096)
      resource.setrlimit(resource.RLIMIT_NOFILE, (\(count), \(count)))
      os.execv(sys.argv[1], sys.argv[1:])
      """
    return ["python3", "-c", script]
  }

  private func count(_ text: String, in daemon: DaemonProcess) -> Int {
    daemon.errors.components(separatedBy: text).count - 1
  }

  private func health() throws -> Int {
    try HTTPClient().perform(
      HTTPClient.Request(
        url: "http://localhost/health", socketPath: folder.file("http.sock"), timeout: .seconds(60))
    ).status
  }

  /// Clients that stay cannot take what deliveries need.
  @Test(arguments: ["notes.sock", "http.sock"])
  func clientsAreRefused(_ socket: String) async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      """
      http: {listen: $/http.sock}
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          sinks: [{file: $/out.jsonl}, {socket: $/notes.sock}, {events: true}]
      """, within: Self.limit(64))
    let isHTTP = socket == "http.sock"
    let request = isHTTP ? "GET /watches/notes/events HTTP/1.0\r\n\r\n" : "{}\n"
    var clients: [LineClient] = []
    var refusal: String?
    while refusal == nil, clients.count < 64 {
      let client = try LineClient(folder.file(socket), request)
      let line = try client.line() ?? ""
      let isServed = line.contains(isHTTP ? " 200 " : "fullResync")
      if isServed { clients.append(client) } else { refusal = line }
    }
    #expect(refusal?.contains(isHTTP ? " 503 " : "too few file descriptors") == true)
    #expect(clients.count > 4)
    for _ in 1...3 { _ = try? LineClient(folder.file(socket), request).line() }
    #expect(count("refuses clients: the daemon has too few file desc", in: daemon) == 1)
    try file.put(2, "two")
    try await yieldUntil { try NoteModel(file: folder.file("out.jsonl")).notes == file.expected }
    #expect(try health() == 200)
    clients = []
    try await yieldUntil {
      let line = try LineClient(folder.file(socket), request).line() ?? ""
      return line.contains(isHTTP ? " 200 " : "fullResync")
    }
    #expect(daemon.stop() == .exited(0))
  }

  /// Connections that ask nothing leave what programs and operators need.
  @Test func idleConnectionsLeaveDescriptors() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let script = try folder.file(
      "script", Array("#!/bin/sh\ncat >>\(folder.path)/out.jsonl\n".utf8))
    chmod(script, 0o755)
    let daemon = try DaemonProcess(
      folder,
      """
      http: {listen: $/http.sock}
      watches: [{name: notes, file: $/notes.tarn, class: Note, sinks: [{exec: [$/script]}]}]
      """, within: Self.limit(64))
    func model() throws -> NoteModel { try NoteModel(file: folder.file("out.jsonl")) }
    try await yieldUntil { try model().lines == 1 }
    let idle = try (1...64).map { _ in try LineClient(folder.file("http.sock"), "") }
    let open = "/proc/\(daemon.process.processID)/fd"
    try await yieldUntil {
      try FileManager.default.contentsOfDirectory(atPath: open).count >= 64 - 16
    }
    for id in 2...6 {
      try file.put(id, "more")
      try await yieldUntil { try model().notes[id] != nil }
    }
    #expect(!daemon.errors.contains("Too many open files"), "\(daemon.errors)")
    try await yieldUntil { (try? health()) == 200 }
    withExtendedLifetime(idle) {}
    #expect(daemon.stop() == .exited(0))
  }

  /// Stores that the limit does not suffice for are opened when others are gone.
  @Test func storesWaitForDescriptors() async throws {
    let files = try (1...9).map { try NoteFile(folder, "s\($0).tarn") }
    for file in files { try file.put(1, "one") }
    let daemon = try DaemonProcess(
      folder,
      "watches: [{name: notes, file: $/s*.tarn, class: Note, sinks: [{file: $/out.jsonl}]}]",
      within: Self.limit(64))
    func delivered() throws -> Set<String> {
      var lines = LineFile(folder.file("out.jsonl"))
      return Set(
        try lines.next().compactMap { line in
          let path = try JSONScanner.value(in: line)["file"]
          return if case .string(let text)? = path { text } else { nil }
        })
    }
    try await yieldUntil { try !delivered().isEmpty }
    #expect(count("too few file descriptors left", in: daemon) > 0)
    while try delivered().count < files.count {
      let done = try delivered()
      for path in done {
        for companion in ["", "-lock", "-signal"] { unlink(path + companion) }
      }
      try await yieldUntil { try delivered() != done }
    }
    #expect(daemon.stop() == .exited(0))
  }

  /// The limit is named before anything begins.
  @Test func aDaemonNeedsSomeDescriptors() throws {
    for count in [4, 5, 6, 7, 8, 12, 16, 20] {
      let daemon = OwnProgram.sibling("tarn-daemon")
      let arguments = Self.limit(count) + [daemon, "--config", folder.path]
      let run = Process()
      run.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      run.arguments = arguments
      let said = Pipe.ofOneProcess()
      run.standardError = said
      try run.run()
      let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      run.waitUntilExit()
      #expect(run.terminationReason == .exit, "\(count): \(text)")
      #expect(run.terminationStatus == 1, "\(count): \(text)")
      #expect(text.contains("no file descriptor left: raise its limit"), "\(count): \(text)")
    }
  }
}
