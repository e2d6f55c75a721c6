import Foundation
import RealmFixtures
import TestSupport
import Testing

/// `tarn import` and `tarn schema` with files of Realm's SDKs, which `tarn-import` reads for them.
@Suite struct RealmFileToolTests {
  private let folder = TemporaryFolder()

  private func path(_ name: String) -> String { RealmFixture.named(name).path }

  @Test func aRealmFileBecomesAStore() throws {
    let done = try ToolProcess.run(folder, "import", path("tiny"), "pets.tarn")
    #expect(done == .init(status: 0, output: "pets.tarn: 1 class, 3 objects\n", errors: ""))
    let found = try ToolProcess.run(folder, "query", "pets.tarn", "Dog", "good == true", "--json")
    #expect(
      found.output == """
        {"name":"Rex","age":3,"good":true}
        {"name":"Fido the dog","age":7,"good":true}

        """)
    #expect(try ToolProcess.run(folder, "inspect", "pets.tarn", "--check").status == 0)
  }

  @Test func theStoreCanBeFirst() throws {
    #expect(try ToolProcess.run(folder, "import", "a.tarn", path("links")).status == 0)
    #expect(try ToolProcess.run(folder, "count", "a.tarn", "Person").status == 0)
  }

  @Test func anotherNameNeedsNoOption() throws {
    _ = try folder.file("old.db", RealmFixture.named("tiny").bytes)
    #expect(try ToolProcess.run(folder, "import", "old.db", "a.tarn").status == 0)
  }

  @Test(arguments: [true, false])
  func anEncryptedFileNeedsItsKey(_ isHexadecimal: Bool) throws {
    let fixture = RealmFixture.named("encrypted")
    let key = try #require(fixture.key)
    let digits = key.map { String(Int($0) | 0x100, radix: 16).dropFirst() }.joined() + "\n"
    _ = try folder.file("key", isHexadecimal ? Array(digits.utf8) : key)
    _ = try folder.file("secret.db", fixture.bytes)
    let done = try ToolProcess.run(
      folder, "import", "secret.db", "a.tarn", "--format", "realm", "--key", "key")
    #expect(done.output == "a.tarn: 1 class, 5 objects\n")
    let shown = try ToolProcess.run(folder, "schema", "secret.db", "--key", "key")
    #expect(shown.output.hasPrefix("Secret\n  _id: Int  (primary key)\n"))
  }

  @Test func errorsSayWhatToDo() throws {
    func errors(_ words: String..., status: Int32 = 1) throws -> String {
      let done = try ToolProcess(folder, words).finish()
      #expect(done.status == status)
      #expect(done.output == "")
      return done.errors
    }
    let encrypted = path("encrypted")
    #expect(
      try errors("import", encrypted, "a.tarn")
        == "tarn: \(encrypted): the file is not a Realm file, or it is encrypted: then its key is "
        + "needed\n")
    _ = try folder.file("key", [1, 2, 3])
    #expect(
      try errors("import", encrypted, "a.tarn", "--key", "key")
        == "tarn: key: a key has 64 bytes, or 128 hexadecimal digits\n")
    _ = try folder.file("there.tarn", [1])
    #expect(
      try errors("import", path("tiny"), "there.tarn")
        == "tarn: there.tarn: there is a file already; a Realm file is imported into a new one\n")
    #expect(
      try errors("import", path("tiny"), "a.tarn", "--class", "Dog", status: 2).hasPrefix(
        "tarn: --class does not go with a Realm file, which is copied as it is\n"))
    #expect(
      try errors("schema", "none.realm")
        == "tarn: none.realm: cannot open the file: No such file or directory\n")
    var bytes = try RealmFixture.named("tiny").bytes
    bytes[0x14] = 9
    _ = try folder.file("old.realm", bytes)
    #expect(
      try errors("import", "old.realm", "a.tarn").hasPrefix(
        "tarn: old.realm: the file has the format 9, and formats from 20 on can be read: open a "))
    #expect(folder.names.contains { $0.hasSuffix("a.tarn") } == false)
  }

  @Test func whatIsLeftOutIsNamed() throws {
    let done = try ToolProcess.run(folder, "import", path("kinds"), "a.tarn")
    #expect(done.status == 0)
    #expect(
      done.errors.contains(
        "tarn: class 'Asym' is not imported: its objects only go to a server\n"))
  }

  /// So a program with these classes opens the store: `SwiftSourceTests` compiles what is printed.
  @Test(arguments: ["tiny", "types", "keys", "collections", "links", "embedded", "migrated"])
  func theSourceIsThatOfTheStore(_ name: String) throws {
    #expect(try ToolProcess.run(folder, "import", path(name), "a.tarn").status == 0)
    for option in ["--swift", "--json"] {
      let realm = try ToolProcess.run(folder, "schema", path(name), option)
      #expect(realm.status == 0)
      #expect(realm == (try ToolProcess.run(folder, "schema", "a.tarn", option)))
    }
  }

  /// A store may have such a name, and be made under it.
  @Test func aStoreOfThatNameStaysAStore() throws {
    _ = try folder.file("dogs.jsonl", Array(#"{"name":"Rex"}"#.utf8))
    #expect(
      try ToolProcess.run(folder, "import", "x.realm", "dogs.jsonl", "--class", "Dog").status == 0)
    #expect(try ToolProcess.run(folder, "schema", "x.realm").output.hasPrefix("Dog\n  name: "))
  }
}
