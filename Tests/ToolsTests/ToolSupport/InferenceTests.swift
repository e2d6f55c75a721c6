import Foundation
import TarnStore
import TarnText
import TestSupport
import Testing

@testable import ToolSupport

@Suite struct InferenceTests {
  private func type(_ values: [String?]) -> String {
    var inference = TypeInference()
    for value in values { inference.add(["c"], [value]) }
    let column = inference.columns[0]
    return Self.text(column.type) + (column.isOptional ? "?" : "")
  }

  private static func text(_ type: InferredType) -> String {
    switch type {
    case .list(let element, let hasNull): "list<\(text(element))\(hasNull ? "?" : "")>"
    case .map(let element, let hasNull): "map<\(text(element))\(hasNull ? "?" : "")>"
    case .object(let columns): "{\(columns.map(text).joined(separator: " "))}"
    default: "\(type)"
    }
  }

  private static func text(_ column: InferredColumn) -> String {
    "\(column.name):\(text(column.type))\(column.isOptional ? "?" : "")"
  }

  @Test(
    arguments: [
      ([#"{"a":[1,2]}"#, #"{"a":[]}"#], "a:list<int>"),
      ([#"{"a":[1,2.5]}"#, #"{"a":null}"#], "a:list<double>?"),
      ([#"{"a":["x",null]}"#], "a:list<string?>"), ([#"{"a":[]}"#], "a:list<any>"),
      ([#"{"a":[[1]]}"#], "a:list<any>"), ([#"{"a":[1]}"#, #"{"a":2}"#], "a:any"),
      ([#"{"a":[1]}"#, #"{"a":{"b":1}}"#], "a:any"), ([#"{"a":{}}"#], "a:map<any>"),
      ([#"{"a":{"b":1}}"#, #"{"a":{"b":2,"c":"x"}}"#], "a:{b:int c:string?}"),
      ([#"{"a":{"b":1}}"#, #"{"a":{"c":2}}"#, #"{"a":{"d":null}}"#], "a:map<int?>"),
      ([#"{"a":{"b.c":1}}"#], "a:map<int>"), ([#"{"a":{"b":[1]}}"#], "a:{b:list<int>}"),
      ([#"{"a":{"x":[1]}}"#, #"{"a":{"y":[1]}}"#, #"{"a":{"z":[1]}}"#], "a:map<any>"),
      ([#"{"a":[{"b":{"c":1}},{"b":{"c":2}}]}"#], "a:list<{b:{c:int}}>"),
      ([#"{"a":[{"b":1},null]}"#], "a:list<any>"),
      ([#"{"a":{"$type":"decimal","value":"1"}}"#, #"{"a":1}"#], "a:any"),
      ([#"{"a":1}"#, #"{"a":9223372036854775808}"#], "a:int"),
      ([#"{"a":1.5}"#, #"{"a":9223372036854775808}"#], "a:double"),
      ([#"{"a":1.5}"#, #"{"a":9223372036854775809}"#], "a:decimal"),
      ([#"{"a":1.5}"#, #"{"a":9007199254740993}"#], "a:decimal"),
      ([#"{"a":0.30000000000000004}"#, #"{"a":1}"#], "a:double"),
      ([#"{"a":12345678901234567.89}"#, #"{"a":null}"#], "a:decimal?"),
      ([#"{"a":0.10000000000000000000000000000000001}"#, #"{"a":1}"#], "a:string"),
      ([#"{"a":0.10000000000000000001}"#, #"{"a":"x"}"#], "a:any"),
      ([#"{"a":1e400}"#], "a:decimal"),
    ] as [([String], String)])
  func jsonSuggestsShapes(_ lines: [String], _ expected: String) throws {
    var inference = TypeInference()
    for line in lines {
      let value = try JSONScanner.value(in: Array(line.utf8), keepingDigits: true)
      guard case .object(let members) = value else { continue }
      inference.add(members)
    }
    #expect(inference.columns.map(Self.text).joined(separator: " ") == expected)
  }

  /// More work with each level would show.
  @Test func deepAndWideValuesSuggestAnyType() throws {
    var deep = TypeInference()
    let nested = String(repeating: #"{"a":"#, count: 300) + "1" + String(repeating: "}", count: 300)
    guard case .object(let members) = try JSONScanner.value(in: nested) else { return }
    deep.add(members)
    #expect(Self.text(deep.columns[0]).hasPrefix("a:{a:{a:{"))
    #expect(Self.text(deep.columns[0]).contains("a:map<any>"))
    var wide = TypeInference()
    for line in 0..<300 {
      wide.add([JSONMember("a", .object([JSONMember("key \(line)", .integer(Int64(line)))]))])
    }
    #expect(wide.columns.map(Self.text) == ["a:map<int>"])
  }

  @Test(
    arguments: [
      (["1", "-5", "0"], "int"), (["1", nil], "int?"), (["1", "2.5"], "double"),
      (["1e3", "Infinity", "NaN"], "double"), (["true", "false"], "bool"),
      (["true", "1"], "string"), (["007", "1"], "string"), (["+1"], "string"),
      (["9223372036854775808"], "string"), (["2024-01-31", "2024-02-29T10:00:00Z"], "date"),
      (["2023-02-29"], "string"), (["2024-01-31", "5"], "string"), ([""], "string"),
      (["0.10000000000000000001"], "decimal"), (["12345678901234567.89", "1"], "decimal"),
      (["9007199254740993.0"], "decimal"), (["0.30000000000000004"], "double"),
      (["9007199254740993", "0.5"], "decimal"), (["1", "9223372036854775808"], "string"),
      (["1.5", "9223372036854775808"], "double"),
      (["0.1", "0." + String(repeating: "3", count: 40)], "string"),
      ([nil, nil], "string?"), (["1.", "2"], "string"), (["0x10"], "string"), (["TRUE"], "string"),
    ] as [([String?], String)])
  func textSuggestsAType(_ values: [String?], _ expected: String) {
    #expect(type(values) == expected, "\(values)")
  }

  @Test func jsonSuggestsTypesAndMissingMembersAreOptional() throws {
    var inference = TypeInference()
    for line in [
      #"{"id":1,"d":1,"s":"x","b":true,"t":"2024-01-31T00:00:00Z","n":null,"mixed":1}"#,
      #"{"id":2,"d":2.5,"s":"5","b":false,"t":"2024-01-31","late":[1],"mixed":"a","f":"NaN"}"#,
    ] {
      guard case .object(let members) = try JSONScanner.value(in: line) else { continue }
      inference.add(members)
    }
    #expect(
      inference.columns.map(Self.text).joined(separator: " ")
        == "id:int d:double s:string b:bool t:date n:string? mixed:any late:list<int>? f:string?"
    )
  }

  @Test(
    arguments: [
      ("1970-01-01", 0, 0, "1970-01-01T00:00:00Z"),
      ("2024-02-29T23:59:59.5Z", 1_709_251_199, 500_000_000, "2024-02-29T23:59:59.5Z"),
      ("2024-01-31 10:20:30+02:30", 1_706_687_430, 0, "2024-01-31T07:50:30Z"),
      ("1969-12-31T23:59:59.000000001Z", -1, 1, "1969-12-31T23:59:59.000000001Z"),
      ("0000-03-01", -62_162_035_200, 0, "0000-03-01T00:00:00Z"),
      ("2000-01-01T12:00", 946_728_000, 0, "2000-01-01T12:00:00Z"),
      ("2024-01-02 00:00:00 -0500", 1_704_171_600, 0, "2024-01-02T05:00:00Z"),
      ("2024-01-02 00:00:00 UTC", 1_704_153_600, 0, "2024-01-02T00:00:00Z"),
      ("2024-01-02 00:00:00.25 +0000 UTC", 1_704_153_600, 250_000_000, "2024-01-02T00:00:00.25Z"),
      ("2024-01-02T00:00:00,5+01", 1_704_150_000, 500_000_000, "2024-01-01T23:00:00.5Z"),
    ] as [(String, Int64, Int32, String)])
  func datesAreReadAndWritten(
    _ text: String, _ seconds: Int64, _ nanoseconds: Int32, _ written: String
  ) {
    let timestamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(Timestamp(iso8601: text) == timestamp)
    #expect(ISODate.text(timestamp) == written)
  }

  @Test(arguments: [
    "", "2024", "2024-1-1", "2024-13-01", "2024-00-10", "2024-04-31", "2024-01-01T", "x",
    "2024-01-01T24:00:00Z", "2024-01-01T10:60Z", "2024-01-01T10:00:00.Z", "2024-01-01T10:00:00+",
    "2024-01-01Z", "2024-01-01T10:00:00.1234567891Z", "2024-01-01T10:00:00Zx",
    "2024-01-01T10:00:00  Z", "2024-01-01T10:00:00 ", "2024-01-01T10:00:00 +0100 UTC",
    "2024-01-01T10:00:00 EST", "2024-01-01 UTC",
  ])
  func whatIsNoDateIsRefused(_ text: String) {
    #expect(Timestamp(iso8601: text) == nil)
  }

  @Test func everyDayOfFourHundredYearsComesBack() {
    for day in Int64(-200_000)...Int64(-200_000 + 146_097) where day % 7 == 0 {
      let timestamp = Timestamp(seconds: day * 86400, nanoseconds: 0)
      #expect(Timestamp(iso8601: ISODate.text(timestamp)) == timestamp)
    }
  }

  @Test func packagesAreReadFromTheDatabase() throws {
    let text = """
      Package: libc6
      Status: install ok installed
      Priority: optional
      Section: libs
      Installed-Size: 12986
      Maintainer: GNU Libc Maintainers <debian-glibc@lists.debian.org>
      Architecture: amd64
      Source: glibc (2.36)
      Version: 2.36-9
      Depends: libgcc-s1, libcrypt1 (>= 1:4.4.10-10~), foo:any | bar, libgcc-s1
      Pre-Depends: base-files
      Essential: yes
      Description: GNU C Library
       Contains the standard libraries.
       .
       More: text

      Package: gone
      Status: deinstall ok config-files
      Version: 1

      broken line
      Package: x

      Version: 3

      """
    let folder = TemporaryFolder()
    let reader = DebianStatusReader(try .open(folder.file("status", Array(text.utf8))))
    guard case .record(let package, let line)? = try reader.next() else {
      Issue.record("no first package")
      return
    }
    #expect(line == 1)
    #expect(package.name == "libc6")
    #expect(package.version == "2.36-9")
    #expect(package.installedSizeKiB == 12986)
    #expect(package.isEssential)
    #expect(package.isInstalled)
    #expect(package.source == "glibc")
    #expect(package.summary == "GNU C Library")
    #expect(package.depends == ["base-files", "libgcc-s1", "libcrypt1", "foo"])
    guard case .record(let gone, 18)? = try reader.next() else {
      Issue.record("no second package")
      return
    }
    #expect(!gone.isInstalled)
    #expect(gone.section == nil)
    #expect(gone.depends.isEmpty)
    for expected in [
      "22: not a field: 'broken line'", "25: a stanza without a package name or version",
    ] {
      guard case .bad(let reason, let line)? = try reader.next() else {
        Issue.record("not bad: \(expected)")
        return
      }
      #expect("\(line): \(reason)" == expected)
    }
    if try reader.next() != nil { Issue.record("a package too many") }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: DebianStatusReader.defaultPath)))
  func thisMachinesPackagesAreRead() throws {
    let reader = DebianStatusReader(try .open(DebianStatusReader.defaultPath))
    var names: Set<String> = []
    while let item = try reader.next() {
      guard case .record(let package, _) = item else { continue }
      names.insert(package.name)
    }
    #expect(names.contains("dpkg"))
  }
}
