import Foundation
import TestSupport
import Testing

/// A command that fails, or is ended, removes nothing that was there before.
@Suite struct KeptFilesTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  /// The files of the folder, without those of running tools.
  private var names: [String] {
    folder.names.filter { !$0.hasPrefix("errors-") && !$0.hasPrefix("input-") }.sorted()
  }

  private func link(_ name: String, to target: String) throws {
    try #require(symlink(target, folder.file(name)) == 0)
  }

  /// Through two links, one of them in another folder.
  private func makeLinks() throws {
    try #require(mkdir(folder.file("data"), 0o700) == 0)
    try link("a.tarn", to: "data/b.tarn")
    try link("data/b.tarn", to: "../c.tarn")
  }

  @Test(arguments: [
    ["--nullable", "nothing"], ["--types", "a:Missing"], ["--key", "nothing"],
    ["--on-error", "skip", "--types", "a:date"], ["--types", "a:date"],
  ])
  func `a failed import keeps a link that leads nowhere`(_ options: [String]) throws {
    try makeLinks()
    let arguments = ["import", "a.tarn", "-", "-f", "jsonl", "-c", "A"] + options
    let done = try ToolProcess(folder, arguments, input: "{\"a\":1}\n").finish()
    #expect(done.status == 1)
    #expect(names == ["a.tarn", "data"])
    let after = try tarn(
      "import", "a.tarn", "-", "-f", "jsonl", "-c", "A", input: "{\"a\":1}\n")
    #expect(after.status == 0, "\(after.errors)")
    #expect(try tarn("count", "c.tarn", "A").output == "1\n")
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal removes the file at the end of a link`(_ number: Int32) async throws {
    try makeLinks()
    let pipe = folder.file("lines.jsonl")
    try #require(mkfifo(pipe, 0o600) == 0)
    let importing = try ToolProcess(
      folder, ["import", "a.tarn", pipe, "-c", "A", "--batch", "2000", "--on-error", "skip"])
    let end = open(pipe, O_WRONLY)
    try #require(end >= 0)
    defer { close(end) }
    // So many determine the columns.
    let lines = Array(String(repeating: "{\"a\":1}\n", count: 2000).utf8)
    try #require(write(end, Array(lines[..<16000]), 16000) == 16000)
    importing.signal(number)
    #expect(importing.status() == -1)
    #expect(names == ["a.tarn", "data", "lines.jsonl"])
  }

  @Test func `a load takes only names that are free`() throws {
    let dump = "{\"dump\":1,\"schemaVersion\":0,\"classes\":[]}\n"
    try link("a", to: "nowhere")
    let linked = try tarn("load", "a", "-", input: dump)
    #expect(linked.errors == "tarn: a: there is a file already; load into a new one\n")
    for suffix in ["", "-lock", "-signal"] {
      let name = "b.loading" + suffix
      _ = try folder.file(name, Array("mine".utf8))
      let done = try tarn("load", "b", "-", input: dump)
      #expect(done.status == 1)
      #expect(done.errors.hasPrefix("tarn: \(name) exists: another load is running"))
      #expect(names == ["a", name])
      #expect(try String(contentsOfFile: folder.file(name), encoding: .utf8) == "mine")
      try FileManager.default.removeItem(atPath: folder.file(name))
    }
    #expect(try tarn("load", "b", "-", input: dump).status == 0)
  }
}
