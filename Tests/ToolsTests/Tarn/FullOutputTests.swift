import TestSupport
import Testing

/// Output that cannot be written, because a disk is full or because there is none.
@Suite(.timeLimit(.minutes(30))) struct FullOutputTests {
  private let folder = TemporaryFolder()

  private func run(_ redirection: String, _ words: [String]) throws -> ToolProcess.Result {
    let script = "exec \"$0\" \"$@\" \(redirection)"
    return try ToolProcess(
      folder, ["-c", script, ToolProcess.tarn.path] + words, program: "/bin/sh"
    ).finish()
  }

  /// A script must not take the output for complete.
  @Test(arguments: [
    ["--help"], ["--version"], ["help", "query"], ["query", "--help"], ["daemon", "--help"],
    ["sync", "--help"], ["generate", "man"],
  ])
  func textOfThePrograms(_ words: [String]) throws {
    let full = try run(">/dev/full", words)
    #expect(full.status == 1)
    #expect(full.errors == "tarn: cannot write to standard output: No space left on device\n")
    let closed = try run(">&-", words)
    #expect(closed.status == 1)
    #expect(closed.errors == "tarn: cannot write to standard output: Bad file descriptor\n")
  }

  @Test(arguments: [[], ["Dog"], ["Dog", "--json"], ["Dog", "--table"]])
  func ofAWatch(_ words: [String]) throws {
    let input = "{\"name\":\"Rex\"}\n"
    let imported = try ToolProcess.run(
      folder, "import", "a.tarn", "-", "-c", "Dog", "-f", "jsonl", input: input)
    try #require(imported.status == 0)
    for (redirection, reason) in [
      (">&-", "Bad file descriptor"), (">/dev/full", "No space left on device"),
    ] {
      let ended = try run(redirection, ["watch", "a.tarn"] + words)
      #expect(ended.status == 1)
      #expect(ended.errors == "tarn: cannot write to standard output: \(reason)\n")
    }
  }
}
