import Foundation
import TestSupport
import Testing

/// What `tarn import` makes of input that no type was given for, and what it refuses.
@Suite struct ImportShapeTests {
  private let folder = TemporaryFolder()

  private func load(_ lines: String, _ more: String...) throws -> ToolProcess.Result {
    try ToolProcess(
      folder, ["import", "a.realm", "-", "-f", "jsonl", "-c", "Person"] + more, input: lines
    ).finish()
  }

  private func people(_ more: String...) throws -> String {
    try ToolProcess(folder, ["export", "a.realm", "Person"] + more).finish().output
  }

  @Test func arraysAndObjectsBecomeCollectionsAndEmbeddedObjects() throws {
    let lines = """
      {"id":1,"tags":["a","b"],"home":{"city":"Rome","no":7},"words":{"en":"dog"},"dogs":[{"n":1}]}
      {"id":2,"tags":[],"home":null,"words":{"de":"Hund"},"dogs":[{"n":2},{"n":3}]}
      {"id":3,"tags":["c"],"home":{"city":"Oslo","no":null},"words":{"fr":"chien"},"dogs":[]}

      """
    let done = try load(lines, "-k", "id")
    #expect(done == .init(status: 0, output: "Person: 3 added, version 1\n", errors: ""))
    #expect(try people() == lines)
    #expect(
      try people("--where", "home.city == 'Rome' OR ANY dogs.n == 3").split(separator: "\n").count
        == 2)
    let text = try ToolProcess.run(folder, "inspect", "a.realm").output
    for declared in [
      "List<String>", "Person_home?", "Map<String, String>", "List<Person_dogs>",
    ] { #expect(text.contains(declared), "\(declared) in \(text)") }
    // The same again finds all of it.
    let again = try load(lines, "--update")
    #expect(again.output == "Person: 0 added, 0 changed, 3 already the same, version 1\n")
  }

  @Test(arguments: ["csv", "jsonl"], [300, 100_000])
  func moreColumnsThanAnObjectHasRoomForAreRefused(_ format: String, _ count: Int) throws {
    let names = (0..<count).map { "c\($0)" }
    let lines =
      format == "csv"
      ? names.joined(separator: ",") + "\n" + names.map { _ in "1" }.joined(separator: ",") + "\n"
      : "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}\n"
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", format, "-c", "Wide", input: lines)
    #expect(done.status == 1)
    #expect(done.output == "")
    #expect(
      done.errors.contains(
        "class 'Wide' has \(count) properties, more than one object can hold"),
      "\(done.errors.prefix(500))")
    let message = done.errors.replacingOccurrences(of: folder.path, with: "")
    for word in ["row", "encode", "bytes", "No such file"] {
      #expect(!message.contains(word), "\(message.prefix(500))")
    }
    for ending in ["", "-lock", "-signal"] {
      #expect(!FileManager.default.fileExists(atPath: folder.file("a.realm" + ending)))
    }
  }

  @Test func anArrayOfObjectsIsAnInput() throws {
    let done = try load("[\n  {\"id\": 1, \"n\": 5},\n  {\"id\": 2, \"n\": 6}\n]\n", "-k", "id")
    #expect(done == .init(status: 0, output: "Person: 2 added, version 1\n", errors: ""))
    #expect(try people() == "{\"id\":1,\"n\":5}\n{\"id\":2,\"n\":6}\n")
    let bad = try load("[{\"id\":3},\n{\"id\":4}", "--on-error", "skip")
    #expect(bad.status == 1)
    #expect(bad.errors.contains("line 2: the array does not end"))
  }

  @Test func keysAreComparedByTheirBytes() throws {
    let composed = "caf\u{e9}"
    let decomposed = "cafe\u{301}"
    let lines = "{\"id\":\"\(composed)\",\"n\":1}\n{\"id\":\"\(decomposed)\",\"n\":2}\n"
    let done = try load(lines, "-k", "id")
    #expect(done == .init(status: 0, output: "Person: 2 added, version 1\n", errors: ""))
    #expect(try Array(people().utf8) == Array(lines.utf8))
    let twice = try load("{\"id\":\"\(decomposed)\"}\n")
    #expect(twice.status == 1)
    #expect(twice.errors.contains("already"))
    // Another spelling is another value.
    let named = "{\"id\":\"x\",\"n\":3,\"name\":\"\(composed)\",\"map\":{\"\(composed)\":1}}"
    #expect(try load(named, "-t", "map:map<int>").status == 0)
    let other = "{\"id\":\"x\",\"name\":\"\(decomposed)\",\"map\":{\"\(composed)\":1}}\n"
    #expect(try load(other, "--update").output.contains("1 changed"))
    let third = "{\"id\":\"x\",\"map\":{\"\(decomposed)\":1}}\n"
    #expect(try load(third, "--update").output.contains("1 changed"))
    let last = try people("--where", "id == 'x'")
    #expect(last.unicodeScalars.filter { $0 == "\u{301}" }.count == 2)
  }

  @Test func anIntegerBeyondSixtyFourBitsIsReported() throws {
    let lines = """
      {"id":1,"n":9007199254740993}
      {"id":2,"n":9223372036854775808}
      {"id":3,"n":9223372036854775807}

      """
    let refused = try load(lines, "-k", "id")
    #expect(refused.status == 1)
    #expect(
      refused.errors.contains(
        "line 2: column 'n': 9223372036854775808 is not of type int: it has more than 64 bits"))
    #expect(folder.names.isEmpty)
    #expect(try load(lines, "-k", "id", "--on-error", "skip").status == 1)
    #expect(
      try people() == "{\"id\":1,\"n\":9007199254740993}\n{\"id\":3,\"n\":9223372036854775807}\n")
    let decimal = try ToolProcess.run(
      folder, "import", "b.realm", "-", "-f", "jsonl", "-c", "Person", "-k", "id", "-t",
      "n:decimal", input: lines)
    #expect(decimal.status == 0)
    let kept = try ToolProcess.run(folder, "export", "b.realm", "Person", "--format", "csv")
    #expect(kept.output.contains("2,9223372036854775808\n"))
  }

  @Test func typesThatDoNotFitAreRefused() throws {
    let unknown = try load("{\"id\":1,\"age\":2}", "-k", "id", "-t", "size:int")
    #expect(unknown.status == 1)
    #expect(unknown.errors.contains("the input has no column 'size'; it has 'id', 'age'"))
    #expect(folder.names.isEmpty)
    #expect(try load("{\"id\":1,\"age\":2}", "-k", "id", "-t", "age:int?").status == 0)
    for (type, isFine) in [
      ("age:string", false), ("age:list<int>", false), ("age:double?", false), ("age:int", true),
      ("age:int?", true), ("id:int?", false), ("Person.age:Person", false),
    ] {
      let done = try load("{\"id\":\(Int.random(in: 2..<(1 << 60))),\"age\":3}", "-t", type)
      #expect(done.status == (isFine ? 0 : 1), "\(type): \(done.errors)")
      if !isFine { #expect(done.errors.contains("class Person has"), "\(done.errors)") }
    }
  }

  @Test func aFailedImportLeavesNoStore() throws {
    for more in [[], ["--on-error", "skip"], ["--on-error", "skip", "--batch", "2"]] {
      let done = try ToolProcess(
        folder, ["import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id"] + more,
        input: "[1]\n{\"id\":null}\nx\n"
      ).finish()
      #expect(done.status == 1)
      #expect(folder.names.isEmpty, "\(more): \(folder.names)")
    }
    // One that was there stays, and so does one with something in it.
    #expect(try load("{\"id\":1}", "-k", "id").status == 0)
    #expect(try load("{\"id\":1}").status == 1)
    #expect(try people() == "{\"id\":1}\n")
  }

  @Test(arguments: [248, 249, 250, 251, 255, 256])
  func aNameThatIsTooLongLeavesNothing(_ length: Int) throws {
    let name = String(repeating: "a", count: length)
    let input = try folder.file("dogs.jsonl", Array("{\"id\":1}\n".utf8))
    let done = try ToolProcess.run(folder, "import", name, input, "-c", "Dog")
    #expect(done.status == (length <= 248 ? 0 : 1))
    let left = length <= 248 ? [name, name + "-lock", name + "-signal"] : []
    #expect(folder.names == left + ["dogs.jsonl"])
    #expect(length <= 248 || done.errors.hasSuffix("File name too long\n"))
  }

  @Test(arguments: [4, 64, 256, 260, 264, 268, 272, 276, 280, 284, 288, 292, 296, 300, 304])
  func aFullDiskLeavesNothing(_ kibibytes: Int) throws {
    let input = try folder.file("dogs.jsonl", Array("{\"id\":1}\n".utf8))
    try FileManager.default.createDirectory(
      atPath: folder.file("disk"), withIntermediateDirectories: false)
    let script = """
      mount -t tmpfs -o size=\(kibibytes)k tmpfs disk || { echo none; exit; }
      cd disk; "$1" import a.realm "$2" -c Dog; echo $? $(ls)
      """
    let done = try ToolProcess(
      folder, ["-Urm", "sh", "-c", script, "sh", ToolProcess.tarn.path, input],
      program: "/usr/bin/unshare"
    ).finish()
    // Not every system lets its users mount.
    if done.status != 0 || done.output == "none\n" { return }
    let isFull = done.output == "1\n" && done.errors.contains(/No space left|the disk is full/)
    #expect(isFull || done.output.hasSuffix("0 a.realm a.realm-lock a.realm-signal\n"), "\(done)")
    if kibibytes < 292 { #expect(isFull, "\(done)") }
  }

  @Test(arguments: ["id,age", "id,age\n", "\u{feff}id,age\r\n", "id,age\r", "\"id\",\"age\"\r"])
  func aHeaderWithoutRecordsIsKept(_ header: String) throws {
    let file = try folder.file("people.csv", Array(header.utf8))
    for more in [[], ["--on-error", "skip", "--batch", "2"]] {
      let name = "\(more.count).realm"
      let arguments = ["import", name, file, "-c", "Person", "-k", "id"] + more
      let done = try ToolProcess(folder, arguments).finish()
      #expect(done == .init(status: 0, output: "Person: 0 added, version 0\n", errors: ""))
      let csv = try ToolProcess.run(folder, "export", name, "Person", "-f", "csv")
      #expect(csv == .init(status: 0, output: "id,age\n", errors: ""))
    }
  }

  @Test func linesOfAnOldMacAreImported() throws {
    let file = try folder.file("people.csv", Array("id,age\r1,5\r2,6\r".utf8))
    let done = try ToolProcess.run(folder, "import", "a.realm", file, "-c", "Person", "-k", "id")
    #expect(done == .init(status: 0, output: "Person: 2 added, version 1\n", errors: ""))
    #expect(try people() == "{\"id\":1,\"age\":5}\n{\"id\":2,\"age\":6}\n")
  }

  @Test func aPipeIsImportedAsItComes() throws {
    let pipe = folder.file("lines.jsonl")
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(try load("{\"id\":0,\"n\":0}", "-k", "id").status == 0)
    let importing = try ToolProcess(
      folder,
      [
        "import", "a.realm", pipe, "-c", "Person", "--batch", "2", "--on-error", "skip", "-t",
        "late:string",
      ])
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Person", "--json"])
    #expect(try watch.line() != nil)
    let end = open(pipe, O_WRONLY)
    try #require(end >= 0)
    func send(_ text: String) { _ = text.withCString { write(end, $0, strlen($0)) } }
    // Each pair is there before the next one is written.
    for start in stride(from: 1, to: 9, by: 2) {
      send("{\"id\":\(start),\"n\":1}\n{\"id\":\(start + 1),\"n\":2}\n")
      let line = try watch.line() ?? ""
      #expect(line.contains("\"key\":\(start),"))
      #expect(line.contains("\"key\":\(start + 1),"))
    }
    send("{\"id\":20,\"other\":1}\n{\"id\":21,\"n\":0,\"late\":\"x\"}\n")
    close(end)
    let done = try importing.finish()
    #expect(done.status == 1)
    #expect(done.output.hasPrefix("Person: 9 added, 1 bad line skipped"))
    #expect(done.errors.contains("line 9: column 'other': neither the class nor the first lines"))
    #expect(try people("--where", "late == 'x'").contains("\"id\":21"))
    watch.signal(SIGTERM)
    #expect(watch.status() == 0)
  }
}
