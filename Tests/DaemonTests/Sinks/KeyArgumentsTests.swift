import Testing

@testable import TarnDaemon

/// How keys become arguments.
struct KeyArgumentsTests {
  private func lines(_ command: [String], _ keys: [String]) throws -> [[String]] {
    try KeyArguments(command).runs(keys, []).map(\.words)
  }

  @Test func replacesEachPlace() throws {
    #expect(
      try lines(["run", "a{key}b{key}", "x", "{key}", "{kez}", "{key}\u{301}"], ["1", "2"]) == [
        [
          "run", "a1b1", "a2b2", "x", "1", "2", "{kez}", "1\u{301}", "2\u{301}",
        ]
      ])
    #expect(try lines(["run", "{key}"], []) == [])
    #expect(KeyArguments.areTaken(by: ["run", "--id={key}"]))
    #expect(!KeyArguments.areTaken(by: ["run", "key"]))
  }

  /// All keys are handed over, however long they are together, and each run can be started.
  @Test(arguments: [1, 100, 1_000, 100_000])
  func dividesWhatTheSystemDoesNotTake(_ length: Int) throws {
    // Long keys need a run of their own each.
    let count = length > 10_000 ? 50 : 2_500
    let keys = (0..<count).map { String(repeating: "k", count: length) + "\($0)" }
    let lines = try lines(["run", "--", "{key}"], keys)
    #expect(lines.flatMap { $0.dropFirst(2) } == keys)
    for line in lines {
      #expect(line.count <= 1_002)
      #expect(line.reduce(0) { $0 + $1.utf8.count + 9 } <= 1 << 20)
    }
  }

  @Test func refusesKeysThatNoArgumentCanHave() throws {
    for key in ["a\0b", String(repeating: "k", count: 1 << 17)] {
      #expect(throws: DeliveryFailure.self) { try lines(["run", "--", "{key}"], [key]) }
    }
    let fits = String(repeating: "k", count: (1 << 17) - 1)
    #expect(try lines(["run", "{key}"], [fits]) == [["run", fits]])
  }

  @Test func noKeyIsAnOption() throws {
    for command in [["run", "{key}"], ["run", "{key}", "--"], ["run", "{key}", "--", "{key}"]] {
      #expect(throws: DeliveryFailure.self) { try lines(command, ["--delete"]) }
    }
    #expect(try lines(["run", "--", "{key}"], ["-5"]) == [["run", "--", "-5"]])
    #expect(try lines(["run", "--id={key}"], ["-5"]) == [["run", "--id=-5"]])
  }

  @Test func anotherUserHasAnotherEnvironment() throws {
    let own = [
      "HOME": "/nowhere", "SECRET": "x", "PATH": "/bin", "LC_ALL": "C", "NOTIFY_SOCKET": "/x",
    ]
    let kept = try CommandEnvironment.variables(of: nil, own: own)
    #expect(kept == own.filter { $0.key != "NOTIFY_SOCKET" })
    let given = try CommandEnvironment.variables(of: "root", own: own)
    #expect(Set(given.keys) == ["HOME", "SHELL", "USER", "LOGNAME", "PATH", "LC_ALL"])
    #expect(given["HOME"] != "/nowhere")
    #expect(given["USER"] == "root")
    #expect(throws: DeliveryFailure.self) {
      try CommandEnvironment.variables(of: "no-such-user", own: own)
    }
  }

  @Test func configuredHeadersReplaceOurs() {
    let lines = WebhookHeaders.lines(
      ["content-type: text/plain", "X: y"], key: "k", signature: "sha256=0")
    #expect(lines.count { $0.lowercased().hasPrefix("content-type:") } == 1)
    #expect(lines.contains("content-type: text/plain"))
    #expect(lines.contains("Idempotency-Key: k"))
    #expect(lines.contains("Tarn-Signature: sha256=0"))
    #expect(WebhookHeaders.fault(in: "Authorization: Bearer x") == nil)
    for line in ["tarn-signature: x", "No colon", ": x", "A b: c", "A: b\r\nC: d"] {
      #expect(WebhookHeaders.fault(in: line) != nil)
    }
  }
}
