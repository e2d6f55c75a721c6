import Foundation
import TestSupport
import Testing

/// An import commits its classes with its first objects: one that fails, or is ended, leaves the
/// file as it was.
@Suite struct ImportWholeTests {
  private let folder = TemporaryFolder()

  private func run(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func schema() throws -> String { try run("schema", "a.realm", "--json").output }

  private func create(_ schema: String) throws {
    let path = try folder.file("s.json", Array(schema.utf8))
    try #require(try run("create", "a.realm", "--schema", path).status == 0)
  }

  private static let unique = """
    [{"class":"A","columns":[{"name":"a","type":"int"}],"unique":[["a"]]}]
    """

  @Test(arguments: [[], ["--on-error", "skip"], ["--on-error", "skip", "--batch", "5"]])
  func `classes and properties of a failed import are not added`(_ more: [String]) throws {
    try create(Self.unique)
    let before = try schema()
    let arguments = ["import", "a.realm", "-", "-f", "jsonl", "-c", "A"] + more
    if more.isEmpty {
      // The rule is checked when all objects are there.
      let done = try ToolProcess(
        folder, arguments, input: "{\"a\":1,\"b\":{\"c\":1}}\n{\"a\":1,\"b\":null}\n"
      ).finish()
      #expect(done.status == 1)
      #expect(done.errors.hasSuffix("nothing was imported\n"), "\(done.errors)")
      #expect(try schema() == before)
    }
    let bad = try ToolProcess(folder, arguments, input: "{\"a\":\"x\",\"d\":1}\n").finish()
    #expect(bad.status == 1)
    #expect(try schema() == before)
  }

  @Test func `a failed import of new classes leaves the schema as it was`() throws {
    try create(Self.unique)
    let before = try schema()
    let new = try folder.file("b.jsonl", Array("{\"x\":1}\n".utf8))
    let old = try folder.file("a.jsonl", Array("{\"a\":1}\n{\"a\":1}\n".utf8))
    let done = try run("import", "a.realm", new, old, "-c", "B", "-c", "A")
    #expect(done.status == 1)
    #expect(try schema() == before)
  }

  @Test func `what was committed with the classes can be undone`() throws {
    try create(Self.unique)
    try #require(
      try run("retention", "set", "a.realm", "--age", "7d", "--old-values").status == 0)
    func load(_ lines: String, _ more: String...) throws -> ToolProcess.Result {
      try ToolProcess(
        folder, ["import", "a.realm", "-", "-f", "jsonl", "-c", "B"] + more, input: lines
      ).finish()
    }
    try #require(try load("{\"id\":1,\"n\":5}\n{\"id\":2,\"n\":6}\n", "-k", "id").status == 0)
    // With a new property of an object that exists.
    let update = try load("{\"id\":1,\"n\":7,\"new\":\"x\",\"list\":[1]}\n", "--update")
    #expect(update.output == "B: 0 added, 1 changed, 0 already the same, version 2\n", "\(update)")
    #expect(try run("inspect", "a.realm", "--check").status == 0)
    #expect(try run("undo", "a.realm", "2").status == 0)
    #expect(
      try run("export", "a.realm", "B").output
        == """
        {"id":1,"n":5,"new":null,"list":[]}
        {"id":2,"n":6,"new":null,"list":[]}

        """
    )
    #expect(try run("undo", "a.realm", "1", "--overwrite").status == 0)
    #expect(try run("count", "a.realm", "B").output == "0\n")
  }

  @Test func `a migration and new classes are committed together`() throws {
    try create(
      "[{\"class\":\"A\",\"key\":\"a\",\"columns\":["
        + "{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":\"int\"}]}]")
    let first = try folder.file("a.jsonl", Array("{\"a\":1,\"b\":null}\n".utf8))
    let second = try folder.file("b.jsonl", Array("{\"x\":1,\"to\":1}\n".utf8))
    let done = try run(
      "import", "a.realm", first, second, "-c", "A", "-c", "B", "-t", "to:A", "--nullable", "b")
    #expect(done.status == 0, "\(done.errors)")
    #expect(try run("export", "a.realm", "B").output == "{\"x\":1,\"to\":1}\n")
    #expect(try run("inspect", "a.realm", "--check").status == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal before the first commit removes a new file`(_ number: Int32) throws {
    let pipe = folder.file("lines.jsonl")
    try #require(mkfifo(pipe, 0o600) == 0)
    let errors = Pipe.ofOneProcess()
    let importing = try ToolProcess(
      folder, ["import", "a.realm", pipe, "-c", "A", "--batch", "1000", "--on-error", "skip"],
      errors: errors.fileHandleForWriting)
    let end = open(pipe, O_WRONLY)
    try #require(end >= 0)
    defer { close(end) }
    // So many determine the columns. The last one is reported when the file is open, and the batch
    // then lacks one object.
    let lines = Array((String(repeating: "{\"a\":1}\n", count: 999) + "[]\n").utf8)
    try #require(write(end, lines, lines.count) == lines.count)
    let line = try errors.fileHandleForReading.read(upToCount: 1)
    #expect(line?.count == 1)
    #expect(folder.names.contains("a.realm"))
    importing.signal(number)
    #expect(importing.status() == -1)
    #expect(!folder.names.contains { $0.hasPrefix("a.realm") }, "\(folder.names)")
  }

  @Test func `imports into one new file plan again when the other was first`() throws {
    // Types that differ: the second one finds the class of the first.
    let inputs = ["{\"a\":1}\n", "{\"a\":\"x\"}\n", "{\"a\":true}\n"]
    let running = try inputs.map { input in
      try ToolProcess(
        folder, ["import", "a.realm", "-", "-f", "jsonl", "-c", "A"], input: input)
    }
    var added = 0
    for process in running {
      let done = try process.finish()
      if done.status == 0 { added += 1 }
      #expect(!done.errors.contains("Migration"), "\(done.errors)")
    }
    #expect(added >= 1)
    #expect(try run("count", "a.realm", "A").output == "\(added)\n")
    #expect(try run("inspect", "a.realm", "--check").status == 0)
  }

  @Test func `imports of several classes into one new file all arrive`() throws {
    let running = try (0..<3).map { number in
      try ToolProcess(
        folder, ["import", "a.realm", "-", "-f", "jsonl", "-c", "A\(number)"],
        input: "{\"a\(number)\":\(number)}\n")
    }
    for process in running {
      let done = try process.finish()
      #expect(done.status == 0, "\(done.errors)")
    }
    for number in 0..<3 {
      let done = try run("export", "a.realm", "A\(number)")
      #expect(done.output == "{\"a\(number)\":\(number)}\n", "\(done.errors)")
    }
  }
}
