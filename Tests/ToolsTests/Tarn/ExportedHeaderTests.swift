import Foundation
import TestSupport
import Testing

/// The header of an exported CSV is read back as the names that were written, whatever is in them.
@Suite struct ExportedHeaderTests {
  private let folder = TemporaryFolder()

  private func run(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private static let names = [
    "ax;y", "a\tb", "a|b", "a:b", "a b c", "a/b", "a^b", "sep=;", "sep=,", "\u{feff}a", "a,b",
    "a\"b", "a\nb", "column1", " ", "sep=",
  ]

  @Test(arguments: names, ["x;y", "x:y", "1"])
  func `a class with one column comes back`(_ name: String, _ value: String) throws {
    let json = try JSONSerialization.data(
      withJSONObject: [["class": "A", "columns": [["name": name, "type": "string"]]]])
    let schema = try folder.file("s.json", Array(json))
    for file in ["a.realm", "b.realm"] {
      try #require(try run("create", file, "--schema", schema).status == 0)
    }
    let line = try JSONSerialization.data(withJSONObject: [name: value])
    let lines = String(repeating: String(decoding: line, as: UTF8.self) + "\n", count: 3)
    let filled = try run("import", "a.realm", "-", "-f", "jsonl", "-c", "A", input: lines)
    try #require(filled.status == 0, "\(filled.errors)")
    let csv = try run("export", "a.realm", "A", "-f", "csv").output
    let back = try run("import", "b.realm", "-", "-f", "csv", "-c", "A", input: csv)
    #expect(back.status == 0, "\(back.errors)")
    #expect(try run("diff", "a.realm", "b.realm").status == 0, "\(csv)")
    #expect(
      try run("schema", "b.realm", "--json").output == run("schema", "a.realm", "--json").output)
  }

  @Test func `a mark in front of the first of several names comes back`() throws {
    let line = "{\"\u{feff}a\":1,\"b\":2}\n"
    try #require(
      try run("import", "a.realm", "-", "-f", "jsonl", "-c", "A", input: line).status == 0)
    let csv = try run("export", "a.realm", "A", "-f", "csv").output
    #expect(try run("import", "b.realm", "-", "-f", "csv", "-c", "A", input: csv).status == 0)
    #expect(try run("export", "b.realm", "A").output == line)
  }

  @Test func `a class without columns is no CSV`() throws {
    let schema = try folder.file("s.json", Array("[{\"class\":\"A\",\"columns\":[]}]".utf8))
    try #require(try run("create", "a.realm", "--schema", schema).status == 0)
    let done = try run("export", "a.realm", "A", "-f", "csv")
    #expect(done.status == 1)
    #expect(done.errors.contains("class A has no properties, which CSV cannot express"))
  }

  @Test(arguments: ["\n", "\u{feff}", "\u{feff}\n", "\r\n", "\n\n\n", ""])
  func `a file without a header is refused`(_ csv: String) throws {
    let done = try run("import", "a.realm", "-", "-f", "csv", "-c", "A", input: csv)
    #expect(done.status == 1)
    #expect(done.errors.contains("a header is missing"), "\(done.errors)")
    #expect(folder.names.isEmpty)
  }
}
