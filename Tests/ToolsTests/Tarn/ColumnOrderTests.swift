import Foundation
import TestSupport
import Testing

/// The columns of a class keep their order when a migration replaces one of them.
@Suite struct ColumnOrderTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    let done = try ToolProcess(folder, arguments, input: input).finish()
    #expect(done.status == 0, "\(done.errors)")
    return done
  }

  private func fill() throws {
    _ = try tarn(
      "import", "a.tarn", "-", "-f", "jsonl", "-c", "Dog", "-k", "id",
      input: "{\"id\":1,\"a\":1,\"b\":2,\"in\":{\"x\":1,\"y\":2},\"c\":3}\n")
  }

  @Test(arguments: [
    ["import", "a.tarn", "none.jsonl", "-c", "Dog", "--nullable", "b,a"],
    ["alter", "a.tarn", "Dog", "--nullable", "a", "--type", "b:int?"],
    ["alter", "a.tarn", "Dog", "--nullable", "b"],
    ["alter", "a.tarn", "Dog_in", "--nullable", "x"],
  ])
  func `columns stay where they are`(_ arguments: [String]) throws {
    try fill()
    _ = try folder.file("none.jsonl", Array("{\"id\":2,\"c\":4,\"b\":5}\n".utf8))
    let names = try tarn("schema", "a.tarn").output.split(separator: "\n").map { line in
      line.split(separator: ":")[0]
    }
    for _ in 0..<2 {
      let done = try ToolProcess(folder, arguments + ["--timeout", "60"]).finish()
      #expect(done.errors.isEmpty || done.errors.contains("already"), "\(done.errors)")
      let after = try tarn("schema", "a.tarn").output.split(separator: "\n").map { line in
        line.split(separator: ":")[0]
      }
      #expect(after == names)
    }
    let line = "{\"id\":1,\"a\":1,\"b\":2,\"in\":{\"x\":1,\"y\":2},\"c\":3}\n"
    #expect(try tarn("export", "a.tarn", "Dog", "id == 1").output == line)
    #expect(
      try tarn("query", "a.tarn", "Dog", "id == 1", "--csv").output
        == "id,a,b,in,c\n1,1,2,\"{\"\"x\"\":1,\"\"y\"\":2}\",3\n")
    let changes = try tarn(
      "watch", "a.tarn", "Dog", "id == 1", "--cursor", "c", "--json", "--exit-after", "1")
    #expect(changes.output.contains(line.dropLast()), "\(changes.output)")
    // A copy has the order, too.
    let schema = try tarn("schema", "a.tarn", "--json").output
    _ = try tarn("create", "b.tarn", "--schema", "-", input: schema)
    #expect(try tarn("schema", "b.tarn", "--json").output == schema)
    _ = try tarn("load", "c.tarn", "-", input: tarn("dump", "a.tarn").output)
    #expect(try tarn("diff", "a.tarn", "c.tarn").output == "")
    #expect(try tarn("inspect", "a.tarn", "--check").output.contains("Sound"))
  }

  @Test func `a property that is dropped and added again returns to its place`() throws {
    try fill()
    _ = try tarn("alter", "a.tarn", "Dog", "--drop", "a")
    _ = try tarn("alter", "a.tarn", "Dog", "--add", "d:int,a:string")
    #expect(
      try tarn("export", "a.tarn", "Dog").output
        == "{\"id\":1,\"a\":\"\",\"b\":2,\"in\":{\"x\":1,\"y\":2},\"c\":3,\"d\":0}\n")
  }
}
