import TestSupport
import Testing

/// Two spellings of the same letters in what `tarn import` reads.
@Suite struct SpellingImportTests {
  private let folder = TemporaryFolder()
  private static let (one, two) = ("\u{e9}", "e\u{301}")

  private func row(_ id: String, _ text: String) -> String {
    #"{"id":"\#(id)","name":"\#(text)","tags":["\#(text)"],"counts":{"\#(text)":1,"k":2}}"# + "\n"
  }

  private func load(_ lines: String, _ more: String...) throws -> String {
    let arguments = ["import", "a.realm", "-", "-f", "jsonl", "-c", "Album", "-k", "id"]
    let types = ["--types", "counts:map<int>"]
    let result = try ToolProcess(folder, arguments + types + more, input: lines).finish()
    #expect(result.errors == "")
    let check = try ToolProcess.run(folder, "inspect", "a.realm", "--check")
    #expect(check.status == 0, "\(check.output)")
    return result.output
  }

  @Test func eachIsItself() throws {
    let both = row(Self.two, Self.two) + row(Self.one, Self.one)
    #expect(try load(both) == "Album: 2 added, version 1\n")
    let added = "Album: 0 added, 0 changed, 2 already the same, version 1\n"
    #expect(try load(both, "--update") == added)
    // Only the spelling of what is in the second one is another.
    let other = row(Self.two, Self.two) + row(Self.one, Self.two)
    let changed = "Album: 0 added, 1 changed, 1 already the same, version 2\n"
    #expect(try load(other, "--update") == changed)
    let export = try ToolProcess.run(folder, "export", "a.realm", "Album").output
    #expect(Array(export.utf8) == Array(other.utf8))
    for (text, count) in [(Self.one, 0), (Self.two, 2)] {
      let found = try ToolProcess.run(
        folder, "export", "a.realm", "Album", "--where", "name == '\(text)'")
      #expect(found.output.split(separator: "\n").count == count)
    }
  }
}
