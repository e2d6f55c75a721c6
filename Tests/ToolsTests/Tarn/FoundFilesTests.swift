import Foundation
import TestSupport
import Testing

/// Files as other programs write them.
@Suite struct FoundFilesTests {
  private let folder = TemporaryFolder()

  /// Imports a file of that name, and returns the objects.
  private func load(_ name: String, _ bytes: some Sequence<UInt8>, _ more: String...) throws
    -> String
  {
    _ = try folder.file(name, Array(bytes))
    let done = try ToolProcess(folder, ["import", "a.realm", name, "-c", "A"] + more).finish()
    try #require(done.status == 0, "\(done.errors)")
    #expect(done.errors == "")
    return try ToolProcess.run(folder, "export", "a.realm", "A").output
  }

  private func errors(_ name: String, _ bytes: some Sequence<UInt8>, _ more: String...) throws
    -> String
  {
    _ = try folder.file(name, Array(bytes))
    let done = try ToolProcess(folder, ["import", "a.realm", name, "-c", "A"] + more).finish()
    #expect(done.status == 1)
    #expect(!folder.names.contains("a.realm"))
    return done.errors
  }

  private static let two = #"{"a":1,"b":"x"}"# + "\n" + #"{"a":2,"b":"y"}"# + "\n"

  @Test(arguments: [
    ("a.csv", "a,b\n1,x\n2,y\n"), ("a.csv", "a;b\n1;x\n2;y\n"), ("a.csv", "a|b\r\n1|x\r\n2|y"),
    ("a.csv", "a\tb\n1\tx\n2\ty\n"), ("a.tsv", "a\tb\n1\tx\n2\ty\n"),
    ("a.csv", "sep=;\r\na;b\r\n1;x\r\n2;y\r\n"), ("a.csv", "\u{feff}\"sep=|\"\na|b\n1|x\n2|y\n"),
    ("a.csv", "\"a\";\"b\"\n\"1\";x\n\n2;y\n"), ("a.csv", "\u{feff}a;b\n1;x\n2;y\n"),
    ("a.json", "{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n{\n  \"a\": 2,\n  \"b\": \"y\"\n}\n"),
    ("a.json", #"{"a":1,"b":"x"}{"a":2,"b":"y"}"#),
    ("a.json", "\u{1e}{\"a\":1,\"b\":\"x\"}\n\u{1e}{\"a\":2,\"b\":\"y\"}\n"),
    ("a.jsonl", "{\"a\":1,\"b\":\"x\"} {\"a\":2,\n\"b\":\"y\"}"),
  ])
  func theSeparatorsAreFound(_ name: String, _ text: String) throws {
    #expect(try load(name, text.utf8) == Self.two)
  }

  /// What else is in the fields does not separate them.
  @Test(arguments: [
    ("a;b\n1,5;\"x|y\"\n2,5;z\n", #"{"a":"1,5","b":"x|y"}|{"a":"2,5","b":"z"}"#),
    ("a,b\n\"1;2\",\"x;y\nz\"\n", #"{"a":"1;2","b":"x;y\nz"}"#),
    ("a;b,c\n1;2\n", #"{"a":1,"b,c":2}"#), ("a;b\n1;2;3\n", "line 2: 3 fields"),
    ("name\nAda\nBob: x\n", #"{"name":"Ada"}|{"name":"Bob: x"}"#),
    ("name x\nAda L\n", #"{"name x":"Ada L"}"#), ("a\n\n1\n", "{\"a\":null}|{\"a\":1}"),
  ])
  func fieldsMayHaveSeparators(_ text: String, _ expected: String) throws {
    if expected.hasPrefix("line") {
      #expect(try errors("a.csv", text.utf8).contains(expected))
    } else {
      let rows = try load("a.csv", text.utf8)
      #expect(
        rows
          == expected.split(separator: "|{").enumerated().map {
            ($0 > 0 ? "{" : "") + $1 + "\n"
          }.joined())
    }
  }

  @Test(arguments: [
    ("a:b:c\n1:2:3\n", ":"), ("a\u{1}b\n1\u{1}2\n", "\\x01"), ("a b c\n1 2 3", "\\x20"),
  ])
  func oneColumnOfSeveralIsRefused(_ text: String, _ separator: String) throws {
    let refused = try errors("a.csv", text.utf8)
    #expect(refused.contains("seem to be separated by '\(separator)'; give --delimiter"))
    #expect(try load("a.csv", text.utf8, "--delimiter", separator).hasPrefix(#"{"a":1,"b":2"#))
  }

  @Test func oneColumnIsTakenIfItIsAskedFor() throws {
    #expect(try load("a.csv", "a:b\n1:2\n".utf8, "-d", ",") == "{\"a:b\":\"1:2\"}\n")
    let wrong = try ToolProcess.run(
      folder, "import", "b.realm", "a.csv", "-c", "A", "--delimiter", "::")
    #expect(wrong.status == 2)
  }

  /// As `DataFrame.to_csv()` writes its index.
  @Test func emptyHeadersGetNames() throws {
    #expect(
      try load("a.csv", ",column3,,x\n0,1,2,3\n".utf8)
        == #"{"column1":0,"column3":1,"column3_":2,"x":3}"# + "\n")
  }

  @Test(arguments: [["gzip"], ["xz"], ["zstd", "-q"], ["bzip2"]])
  func compressedFilesAreUnpacked(_ program: [String]) throws {
    let ending = ["gzip": "gz", "xz": "xz", "zstd": "zst", "bzip2": "bz2"][program[0]] ?? ""
    _ = try folder.file("a.csv", Array("a;b\n1;x\n2;y\n".utf8))
    let packed = try ToolProcess(
      folder, ["-c", "\(program.joined(separator: " ")) < a.csv > a.csv.\(ending)"],
      program: "/bin/sh"
    ).finish()
    try #require(packed.status == 0, "\(packed.errors)")
    let bytes = try Data(contentsOf: folder.url("a.csv.\(ending)"))
    #expect(try load("b.csv.\(ending)", bytes) == Self.two)
    let piped = try ToolProcess(
      folder,
      ["-c", "cat a.csv.\(ending) | \(ToolProcess.tarn.path) import b.realm - -f csv -c A"],
      program: "/bin/sh"
    ).finish()
    #expect(piped.status == 0, "\(piped.errors)")
    _ = try folder.file("cut.csv.\(ending)", Array(bytes.dropLast(9)))
    let cut = try ToolProcess.run(folder, "import", "c.realm", "cut.csv.\(ending)", "-c", "A")
    #expect(cut.errors.contains("cut.csv.\(ending): \(program[0]) cannot unpack it"))
    #expect(!folder.names.contains("c.realm"))
  }

  @Test func anArrayInAnObjectIsFound() throws {
    let text = #"""
      {"count": 2, "next": {"data": [7]}, "x,}": "}", "data": [
        {"a": 1, "b": "x"},
        {"a": 2, "b": "y"}], "rest": []}
      """#
    #expect(try load("a.json", text.utf8, "--records", "data") == Self.two)
    let nested = #"{"r": {"b": 1, "a b": [{"a":1,"b":"x"},{"a":2,"b":"y"}]}}"#
    let done = try ToolProcess.run(
      folder, "import", "b.realm", "-", "-f", "json", "-c", "A", "--records", "r.`a b`",
      input: nested)
    #expect(done.status == 0, "\(done.errors)")
    for (path, reason) in [
      ("r.c", "'r.c' is not in the input"), ("r.b", "'r.b' is no array"),
      ("r.b.x", "'r.b.x' is in no"),
    ] {
      let missing = try ToolProcess.run(
        folder, "import", "c.realm", "-", "-f", "json", "-c", "A", "--records", path, input: nested)
      #expect(missing.errors.contains("line 1: \(reason)"), "\(missing.errors)")
    }
  }

  /// One object with a list may be meant as it is.
  @Test func anArrayInAnObjectIsMentioned() throws {
    _ = try folder.file("a.json", Array(#"{"n":2,"data":[{"a":1},{"a":2}]}"#.utf8))
    let done = try ToolProcess.run(folder, "import", "a.realm", "a.json", "-c", "A")
    #expect(done.status == 0)
    #expect(
      done.errors
        == "tarn: a.json is one object; --records data imports the 2 objects in its 'data'\n")
    let again = try ToolProcess.run(folder, "import", "a.realm", "a.json", "-c", "A")
    #expect(again.errors == "")
  }

  @Test func featuresBecomeObjects() throws {
    let features = [
      #"{"type":"Feature","id":7,"properties":{"name":"x"},"geometry":{"type":"Point","#
        + #""coordinates":[1,2]}}"#,
      #"{"type":"Feature","id":8,"geometry":{"type":"Point","coordinates":[3.5,4]},"#
        + #""properties":{"name":null}}"#,
    ]
    let expected = """
      {"id":7,"name":"x","geometry":{"type":"Point","coordinates":[1.0,2.0]}}
      {"id":8,"name":null,"geometry":{"type":"Point","coordinates":[3.5,4.0]}}

      """
    let whole =
      "{ \"type\" : \"FeatureCollection\",\n\"features\": [\(features.joined(separator: ",\n"))]}"
    #expect(try load("a.geojson", whole.utf8) == expected)
    let lines = try ToolProcess.run(
      folder, "import", "b.realm", "-", "-f", "jsonl", "-c", "A",
      input: features.joined(separator: "\n"))
    #expect(lines.status == 0)
    #expect(try ToolProcess.run(folder, "export", "b.realm", "A").output == expected)
  }

  @Test func otherEncodingsAreRefusedWithTheirCommand() throws {
    let text = "a;b\n1;é\n"
    func check(_ encoding: String.Encoding, _ name: String, mark: [UInt8]) throws {
      let data = mark + Array(try #require(text.data(using: encoding)))
      #expect(
        try errors("a.csv", data).contains(
          "a.csv is \(name): 'iconv -f \(name) -t UTF-8 a.csv' converts it to UTF-8"))
    }
    try check(.utf16LittleEndian, "UTF-16", mark: [0xff, 0xfe])
    try check(.utf16BigEndian, "UTF-16", mark: [0xfe, 0xff])
    try check(.utf16LittleEndian, "UTF-16LE", mark: [])
    try check(.utf32LittleEndian, "UTF-32", mark: [0xff, 0xfe, 0, 0])
    let latin = try #require(text.data(using: .isoLatin1))
    let hint = "is not UTF-8 ('iconv -f LATIN1 -t UTF-8' converts Latin-1)"
    #expect(try errors("a.csv", latin).contains("line 2: field 2 \(hint)"))
    #expect(
      try errors("a.csv", Array("a;\"\u{e9}\"".unicodeScalars.map { UInt8($0.value) })).contains(
        "line 1: field 2 \(hint)"))
    let json = "{\"a\":\"\u{e9}\"}".unicodeScalars.map { UInt8($0.value) }
    #expect(try errors("a.json", json).contains("line 1: a string is not UTF-8 at column 7"))
    #expect(
      try errors("a.csv", [0x50, 0x4b, 3, 4]).contains("a.csv is a ZIP archive or a spreadsheet"))
  }

  /// A line that breaks off does not take the next one with it.
  @Test func badLinesEndWhereTheyEnd() throws {
    let text = """
      {"a":1
      {"a":2}
      {"a":3}}
      {"a":"x
      {"a":4}{"a":5} x
      {"a":[{
      "b":1}]}
      {"a":6
      """
    _ = try folder.file("a.jsonl", Array(text.utf8))
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "a.jsonl", "-c", "A", "--on-error", "ignore", "-t", "a:any")
    let lines = done.errors.split(separator: "\n").compactMap {
      $0.split(separator: ":").dropFirst().first
    }
    #expect(lines == [" line 1", " line 3", " line 4", " line 5", " line 8"], "\(done.errors)")
    #expect(
      try ToolProcess.run(folder, "export", "a.realm", "A").output
        == "{\"a\":2}\n{\"a\":4}\n{\"a\":[{\"b\":1}]}\n")
  }
}
