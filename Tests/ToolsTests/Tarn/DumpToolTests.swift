import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn dump` and `tarn load`.
@Suite(.timeLimit(.minutes(30))) struct DumpToolTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func open(
    _ name: String, _ classes: [ClassDefinition], version: UInt64? = nil
  ) throws -> Store {
    var options = Store.Options()
    options.isDurable = name == "loaded"
    options.classes = classes
    options.schemaVersion = version
    return try StoreRegistry.open(folder.file(name), options)
  }

  /// Dumps a file, loads the dump, and compares both files.
  private func roundTrip(_ name: String) throws -> String {
    let dumped = try tarn("dump", name)
    #expect(dumped.status == 0, "\(dumped.errors)")
    let loaded = try tarn("load", "loaded", "-", input: dumped.output)
    #expect(loaded.status == 0, "\(loaded.errors)")
    #expect(try tarn("diff", name, "loaded") == .init(status: 0, output: "", errors: ""))
    let again = try tarn("dump", "loaded")
    #expect(again.output == dumped.output)
    let check = try tarn("inspect", "loaded", "--check")
    #expect(check.status == 0, "\(check.output)")
    #expect(try !files().contains { $0.contains(".loading") })
    return dumped.output
  }

  /// The files of the folder, without those of running tools.
  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { !$0.hasPrefix("errors-") && !$0.hasPrefix("input-") }
  }

  @Test(arguments: Seeds.of([1, 2]))
  func `every type comes back, with indexes and unique rules`(_ seed: UInt64) throws {
    try open("a", EveryType.indexedClasses, version: 3).write { session in
      var every = try EveryType(seed: seed, session)
      for id in 0..<8 {
        try every.add("Thing", id: id * 5 - 10)
        try every.add("Loose", id: id)
      }
      try every.addKeyed(20)
      let keyless = session.schema.schema.named("Keyless")!.id
      for key in [Int64(1), 4] { try session.delete(ObjectKey(key), in: keyless) }
    }
    let text = try roundTrip("a")
    #expect(text.hasPrefix("{\"dump\":1,\"schemaVersion\":3,\"classes\":[{\"class\":\"Target\""))
    #expect(text.contains("{\"class\":\"Keyless\",\"objects\":3,\"nextKey\":5}\n[0,{"))
    #expect(try open("loaded", []).newestSnapshot().head.schemaVersion == 3)
    #expect(try tarn("schema", "loaded", "--json") == tarn("schema", "a", "--json"))
  }

  @Test(arguments: Seeds.of(Array(1...6)))
  func `random classes come back`(_ seed: UInt64) throws {
    let classes = EveryType.randomClasses(seed: seed)
    try open("a", classes).write { session in
      var every = try EveryType(seed: seed, session)
      for described in session.schema.schema.classes.dropFirst(3) {
        for id in 0..<10 { try every.addRandom(to: described, id: id) }
        let keys = try session.allKeys(in: described.id)
        for key in keys.prefix(3) { try session.delete(key, in: described.id) }
      }
    }
    _ = try roundTrip("a")
  }

  /// More objects than one commit of a load has. They link to objects before and after.
  @Test func `links lead to later lines and commits`() throws {
    let node = ClassDefinition(
      name: "Node",
      properties: [
        .init(name: "next", type: .link, isOptional: true, target: "Node"),
        .init(name: "other", type: .any),
      ])
    try open("a", [node]).write { session in
      let keys = try (0..<2_500).map { _ in try session.create([:], in: ClassID(0)) }
      for (place, key) in keys.enumerated() {
        let next = keys[(place * 7 + 1) % keys.count]
        try session.set(ColumnID(0), at: key, in: ClassID(0), to: .link(next))
        try session.set(ColumnID(1), at: key, in: ClassID(0), to: .object(ClassID(0), next))
      }
    }
    _ = try roundTrip("a")
    // The next object gets the key that it would have got in the first file.
    let store = try open("loaded", [])
    try store.write { session in
      let key = try session.create([:], in: ClassID(0))
      #expect(key == ObjectKey(2_500))
    }
  }

  private static let header = """
    {"dump":1,"schemaVersion":0,"classes":[{"class":"Dog","key":"name","columns":\
    [{"name":"name","type":"string"},{"name":"age","type":"int"},\
    {"name":"friend","type":"link","target":"Dog","optional":true}],"unique":[["age"]]},\
    {"class":"Toy","columns":[{"name":"mixed","type":"any"}]}]}

    """
  private static let dogs = "{\"class\":\"Dog\",\"objects\":2,\"nextKey\":9}\n"

  private func dog(_ key: Int, _ name: String, _ age: String, _ friend: String = "null") -> String {
    "[\(key),{\"name\":\"\(name)\",\"age\":\(age),\"friend\":\(friend)}]\n"
  }

  @Test func `what is refused leaves nothing behind`() throws {
    let (header, dogs) = (Self.header, Self.dogs)
    let both = header + dogs + dog(0, "Rex", "1", "5") + dog(5, "Ann", "2", "0")
    let toys = "{\"class\":\"Toy\",\"objects\":1,\"nextKey\":1}\n"
    let cases: [(text: String, error: String)] = [
      ("", "line 1: this is not the beginning of a text that 'tarn dump' has written"),
      ("{\"id\":1}\n", "line 1: this is not the beginning"),
      ("{\"dump\":2,\"schemaVersion\":0,\"classes\":[]}\n", "line 1: the dump has format 2"),
      ("{\"dump\":1,\"schemaVersion\":-1,\"classes\":[]}\n", "line 1: \"schemaVersion\""),
      ("{\"dump\":1,\"schemaVersion\":1,\"classes\":[{}]}\n", "line 1: class 1 has no \"class\""),
      (
        header.replacing("\"type\":\"string\"", with: "\"type\":\"double\""),
        "line 1: the primary key of class Dog has a type that cannot be a key"
      ),
      (header, "line 1: the dump ends here, without the objects of class Dog"),
      (header + dogs + dog(0, "Rex", "1"), "line 3: the dump ends here, without 1 object of class"),
      (header + toys, "line 2: expected {\"class\":\"Dog\""),
      (header + dogs + "{}\n", "line 3: not an object: expected [KEY,{…}]"),
      (header + dogs + "[0,{\n", "line 3: "),
      (header + dogs + dog(0, "Rex", "\"x\""), "line 3: column 'age': \"x\" is not of type int"),
      (header + dogs + "[0,{\"name\":\"Rex\"}]\n", "line 3: 'age' is missing"),
      (header + dogs + "[0,{\"age\":1}]\n", "line 3: 'name' is missing"),
      (header + dogs + "[0,{\"size\":1}]\n", "line 3: class Dog has no 'size'"),
      (header + dogs + "[0,{\"age\":1,\"age\":1}]\n", "line 3: the name 'age' is given twice"),
      (header + dogs + dog(-1, "Rex", "1"), "line 3: -1 cannot be an object key"),
      (
        header + dogs + dog(.max, "Rex", "1"), "line 3: 9223372036854775807 cannot be an object key"
      ),
      (
        header + dogs + dog(4, "Rex", "1") + dog(4, "Ann", "2"),
        "line 4: the key 4 does not follow 4"
      ),
      (
        header + dogs + dog(0, "Rex", "1") + dog(4, "Rex", "2"),
        "line 4: there is a Dog Rex already"
      ),
      (
        header + dogs + dog(0, "Rex", "1") + dog(5, "Ann", "1") + toys + "[0,{\"mixed\":1}]\n",
        "lines 2 to 6: "
      ),
      (header + dogs + dog(0, "Rex", "1") + dog(5, "Ann", "2", "3"), "line 4: column 'friend'"),
      (
        header + dogs + dog(0, "Rex", "1", "3") + dog(5, "Ann", "2") + toys + "[0,{\"mixed\":1}]\n",
        "line 3: column 'friend' links to the key 3 of class Dog, which the dump does not have"
      ),
      (both, "line 4: the dump ends here, without the objects of class Toy"),
      (
        both + toys + "[0,{\"mixed\":{\"$type\":\"link\",\"class\":\"Dog\",\"value\":1}}]\n",
        "line 6"
      ),
      (both + toys + "[0,{\"mixed\":1}]\n[1,{\"mixed\":1}]\n", "line 7: the dump has more lines"),
    ]
    for (text, error) in cases {
      let result = try tarn("load", "b", "-", input: text)
      #expect(result.status == 1, "\(text)")
      #expect(result.errors.contains("tarn: standard input, \(error)"), "\(result.errors)")
    }
    #expect(try files() == [])
    let loaded = try tarn("load", "b", "-", input: both + toys + "[0,{\"mixed\":1}]\n")
    #expect(loaded == .init(status: 0, output: "b: 2 classes, 3 objects\n", errors: ""))
  }

  @Test func `files that exist stay as they are`() throws {
    _ = try folder.file("b", Array("mine".utf8))
    let taken = try tarn("load", "b", "-", input: Self.header)
    #expect(taken.errors == "tarn: b: there is a file already; load into a new one\n")
    _ = try folder.file("c.loading", Array("mine".utf8))
    let other = try tarn("load", "c", "-", input: Self.header)
    #expect(other.errors.contains("c.loading exists: another load is running, or one was killed"))
    for name in ["b", "c.loading"] {
      #expect(try String(contentsOfFile: folder.file(name), encoding: .utf8) == "mine")
    }
    #expect([taken.status, other.status] == [1, 1])
  }

  @Test func `a signal removes what was loaded so far`() async throws {
    let pipe = folder.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let load = try ToolProcess(folder, ["load", "b", "pipe"])
    let writer = try #require(FileHandle(forWritingAtPath: pipe))
    try writer.write(contentsOf: Data((Self.header + Self.dogs + dog(0, "Rex", "1")).utf8))
    try await yieldUntil { FileManager.default.fileExists(atPath: folder.file("b.loading-lock")) }
    load.signal(SIGTERM)
    #expect(load.status() == 1)
    #expect(load.errors() == "tarn: ended by a signal; nothing was loaded\n")
    try writer.close()
    #expect(try files() == ["pipe"])
  }

  @Test func `compressed dumps are unpacked`() throws {
    let text =
      Self.header + "{\"class\":\"Dog\",\"objects\":0}\n{\"class\":\"Toy\",\"objects\":0}\n"
    _ = try folder.file("dump", Array(text.utf8))
    let gzip = try ToolProcess(folder, ["-k", "dump"], program: "/usr/bin/gzip").finish()
    #expect(gzip.status == 0, "\(gzip.errors)")
    #expect(try tarn("load", "b", "dump.gz").output == "b: 2 classes, 0 objects\n")
  }
}
