import Foundation
import TestSupport
import Testing

/// `tarn import`, `export` and `inspect`, as real processes.
@Suite struct ImportExportTests {
  private let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  private static let csv = """
    id,name,age,born,weight,isGood
    1,Rex,7,2020-01-02T00:00:00Z,1.5,true
    2,"Bo ""x"", y",3,2021-01-02T10:00:00.5Z,2.0,false
    3,"",,,,

    """

  @Test func whatIsImportedIsExported() throws {
    let file = try folder.file("dogs.csv", Array(Self.csv.utf8))
    let first = try ToolProcess.run(folder, "import", "a.realm", file, "-c", "Dog", "-k", "id")
    #expect(first == .init(status: 0, output: "Dog: 3 added, version 1\n", errors: ""))
    let csv = try ToolProcess.run(folder, "export", "a.realm", "Dog", "--format", "csv")
    #expect(csv.output == Self.csv)
    let lines = try ToolProcess.run(folder, "export", "a.realm", "Dog")
    let second = try ToolProcess.run(
      folder, "import", "b.realm", "-", "--format=jsonl", "--class=Dog", "--key=id",
      input: lines.output)
    #expect(second.status == 0)
    let again = try ToolProcess.run(folder, "export", "b.realm", "Dog", "-f", "csv")
    #expect(again.output == Self.csv)
  }

  @Test func exportFiltersAndSorts() throws {
    try importDogs()
    let names = try ToolProcess.run(
      folder, "export", "a.realm", "Dog", "--where", "age > 2", "--sort", "age:desc,name")
    let ids = names.output.split(separator: "\n").map { $0.prefix(8) }
    #expect(ids == ["{\"id\":1,", "{\"id\":2,"])
  }

  private func importDogs() throws {
    let file = try folder.file("dogs.csv", Array(Self.csv.utf8))
    let done = try ToolProcess.run(folder, "import", "a.realm", file, "-c", "Dog", "-k", "id")
    try #require(done.status == 0)
  }

  @Test func decimalsKeepTheirDigits() throws {
    let csv = "id,price,tip\n1,19.90,\n2,-0.10,NaN\n3,1E+9,1234567890.123456789012345678901\n"
    let types = "id:int,price:decimal,tip:Decimal?"
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "csv", "-c", "Sum", "-k", "id", "--types", types,
      input: csv)
    #expect(done == .init(status: 0, output: "Sum: 3 added, version 1\n", errors: ""))
    let lines = try ToolProcess.run(folder, "export", "a.realm", "Sum")
    #expect(
      lines.output == """
        {"id":1,"price":"19.90","tip":null}
        {"id":2,"price":"-0.10","tip":"NaN"}
        {"id":3,"price":"1E+9","tip":"1234567890.123456789012345678901"}

        """)
    let again = try ToolProcess.run(
      folder, "import", "b.realm", "-", "-f", "jsonl", "-c", "Sum", "-k", "id", "--types", types,
      input: lines.output)
    #expect(again.status == 0)
    let back = try ToolProcess.run(folder, "export", "b.realm", "Sum", "-f", "csv")
    #expect(back.output == csv)
    let set = try ToolProcess.run(
      folder, "set", "b.realm", "Sum", "--where", "price < 0 AND tip == 'NaN'", "price=2.500")
    #expect(set.status == 0)
    let sorted = try ToolProcess.run(
      folder, "export", "b.realm", "Sum", "--where", "price >= 2.5", "--sort", "price",
      "-f", "csv")
    #expect(
      sorted.output
        == "id,price,tip\n2,2.500,NaN\n1,19.90,\n3,1E+9,1234567890.123456789012345678901\n")
    let wrong = try ToolProcess.run(folder, "set", "b.realm", "Sum", "--where", "id==1", "price=x")
    #expect(wrong.status != 0)
    #expect(wrong.errors.contains("decimal"))
  }

  @Test func typesCanBeGiven() throws {
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "csv", "-c", "Key",
      "--types", "a:string,b:double?,c:data",
      input: "a,b,c\n007,1,AAEC\n8,,\"\"\n")
    #expect(done.status == 0)
    let lines = try ToolProcess.run(folder, "export", "a.realm", "Key")
    #expect(
      lines.output == """
        {"a":"007","b":1.0,"c":"AAEC"}
        {"a":"8","b":null,"c":""}

        """)
  }

  @Test(arguments: [["--update"], ["--on-error", "ignore"], []])
  func `long keys that agree in their beginnings are imported each`(_ more: [String]) throws {
    let start = "https://example.com/" + String(repeating: "long/", count: 40)
    let lines = (1...5).map { "\(start)\($0),\($0)\n" }.joined()
    let done = try ToolProcess(
      folder, ["import", "a.realm", "-", "-f", "csv", "-c", "Page", "-k", "url"] + more,
      input: "url,number\n" + lines
    ).finish()
    #expect(done.status == 0)
    #expect(done.output.hasPrefix("Page: 5 added, "), "\(done)")
    let csv = try ToolProcess.run(folder, "export", "a.realm", "Page", "-f", "csv")
    #expect(csv.output == "url,number\n" + lines)
  }

  @Test func badLinesRefuseTheWholeImport() throws {
    let bad = "id,age\n1,5\n2\n3,x\n4,6\n1,7\n"
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "csv", "-c", "Dog", "-k", "id", "-t", "age:int",
      input: bad)
    #expect(done.status == 1)
    #expect(done.output.isEmpty)
    #expect(done.errors.contains("line 3: 1 fields, but the header has 2\n"))
    #expect(done.errors.contains("line 4: column 'age': 'x' is not of type int\n"))
    #expect(done.errors.contains("line 6: there is a Dog '1' already"))
    #expect(done.errors.contains("3 bad lines, so nothing was imported"))
    #expect(!folder.names.contains("a.realm"))
  }

  @Test(
    arguments: [
      (["--on-error", "skip"], 1), (["--on-error", "skip", "--batch", "1"], 1),
      (["--on-error", "ignore"], 0), (["--on-error=ignore", "--batch=5"], 0),
    ] as [([String], Int32)])
  func badLinesAreSkippedIfAsked(_ more: [String], _ status: Int32) throws {
    let arguments = ["import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id"]
    let process = try ToolProcess(
      folder, arguments + more, input: "{\"id\":1}\n[2]\n\n{\"id\":3\n{\"id\":null}\n{\"id\":5}\n")
    let done = try process.finish()
    #expect(done.status == status)
    #expect(done.output.hasPrefix("Dog: 2 added, 3 bad lines skipped"))
    for line in [2, 4, 5] { #expect(done.errors.contains("tarn: line \(line): ")) }
    let lines = try ToolProcess.run(folder, "export", "a.realm", "Dog")
    #expect(lines.output == "{\"id\":1}\n{\"id\":5}\n")
  }

  @Test func updatingChangesOnlyWhatDiffers() throws {
    try importDogs()
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "--update",
      input: """
        {"id":1,"age":7}
        {"id":2,"age":4}
        {"id":9,"tag":"new","name":"Ada"}
        """)
    #expect(done.output == "Dog: 1 added, 1 changed, 1 already the same, version 2\n")
    let lines = try ToolProcess.run(folder, "export", "a.realm", "Dog", "--where", "tag != NULL")
    #expect(
      lines.output == """
        {"id":9,"name":"Ada","age":null,"born":null,"weight":null,"isGood":null,"tag":"new"}

        """)
  }

  @Test func packagesOfDebianAreUnderstood() throws {
    let status = """
      Package: tar
      Status: install ok installed
      Installed-Size: 3100
      Architecture: amd64
      Essential: yes
      Version: 1.34
      Depends: libc6 (>= 2.34), libacl1
      Description: an archiver
       of long standing

      Package: nothing

      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "debian", "-c", "Package", "-k", "name",
      "--on-error", "skip", input: status)
    #expect(done.output == "Package: 1 added, 1 bad line skipped, version 1\n")
    let lines = try ToolProcess.run(folder, "export", "a.realm", "Package")
    #expect(lines.output.hasPrefix("{\"name\":\"tar\",\"version\":\"1.34\","))
    #expect(lines.output.contains("\"installedSize\":3100,"))
    #expect(lines.output.contains("\"depends\":\"libc6, libacl1\""))
  }

  // MARK: - inspect

  @Test func inspectTellsWhatThereIs() throws {
    try importDogs()
    let text = try ToolProcess.run(folder, "inspect", "a.realm")
    #expect(text.status == 0)
    #expect(text.output.contains("Dog  3 objects"))
    #expect(text.output.contains("primary key"))
    let json = try ToolProcess.run(folder, "inspect", "a.realm", "--check", "--json")
    #expect(json.status == 0)
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(object?["version"] as? Int == 1)
    #expect((object?["check"] as? [String: Any])?["sound"] as? Bool == true)
  }

  @Test func checkingFindsDamage() throws {
    let lines = (0..<100).map { "{\"id\":\($0),\"name\":\"dog number \($0)\"}\n" }.joined()
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id", input: lines)
    try #require(done.status == 0)
    let url = URL(fileURLWithPath: folder.path + "/a.realm")
    var bytes = try Data(contentsOf: url)
    // Every copy: pages that are not used any more hold some as well.
    var start = bytes.startIndex
    while let found = bytes[start...].range(of: Data("dog number 42".utf8)) {
      bytes[found.lowerBound] = 0x63
      start = found.upperBound
    }
    try bytes.write(to: url)
    let check = try ToolProcess.run(folder, "inspect", "a.realm", "--check")
    #expect(check.status == 1)
    #expect(check.output.contains("Damaged"))
    #expect(check.output.contains("class Dog"))
  }
}
