import Foundation
import TestSupport
import Testing

@testable import ToolSupport

@Suite struct TextReadersTests {
  /// A reader over bytes in a file, with a buffer so small that lines cross its end.
  private func lines(
    _ bytes: [UInt8], bufferBytes: Int = 16, maximum: Int = 1 << 20
  ) throws -> (LineReader, TemporaryFolder) {
    let folder = TemporaryFolder()
    let descriptor = open(try folder.file("input", bytes), O_RDONLY)
    let reader = LineReader(
      descriptor: descriptor, name: "input", owned: true, bufferBytes: bufferBytes,
      maximumLineBytes: maximum)
    return (reader, folder)
  }

  private func allLines(_ text: String) throws -> [String] {
    let (reader, folder) = try lines(Array(text.utf8))
    defer { withExtendedLifetime(folder) {} }
    var all: [String] = []
    while let line = try reader.next() { all.append(String(decoding: line, as: UTF8.self)) }
    #expect(reader.lineNumber == all.count)
    #expect(reader.consumedBytes == Int64(text.utf8.count))
    #expect(reader.totalBytes == Int64(text.utf8.count))
    return all
  }

  @Test func linesAreSplitWhereverTheBufferEnds() throws {
    #expect(try allLines("") == [])
    #expect(try allLines("\n") == [""])
    #expect(try allLines("a\n\nb") == ["a", "", "b"])
    for length in 0..<40 {
      let long = String(repeating: "x", count: length)
      #expect(try allLines("\(long)\nshort\n\(long)\n") == [long, "short", long])
    }
  }

  @Test func aByteOrderMarkIsLeftOut() throws {
    #expect(try allLines("\u{feff}a\n\u{feff}b\n") == ["a", "\u{feff}b"])
  }

  @Test func aLineWithoutAnEndDoesNotFillTheMemory() throws {
    let (reader, folder) = try lines(Array(repeating: 0x78, count: 200), maximum: 64)
    defer { withExtendedLifetime(folder) {} }
    let error = #expect(throws: ToolError.self) { try reader.next() }
    #expect(error?.message == "input: line 1 is longer than 64 bytes")
  }

  @Test func aMissingFileIsSaid() {
    let error = #expect(throws: ToolError.self) { try LineReader.open("/no/such/file") }
    #expect(error?.message == "cannot read /no/such/file: No such file or directory")
  }

  @Test func jsonLinesGoOnAfterABadLine() throws {
    let (reader, folder) = try lines(Array("{\"a\":1}\r\n\n[1]\n{\"a\":}\n {\"b\":null} ".utf8))
    defer { withExtendedLifetime(folder) {} }
    let input = JSONLinesReader(reader)
    var found: [String] = []
    while let item = try input.next() {
      switch item {
      case .record(let members, let line): found.append("\(line): \(members.map(\.name))")
      case .bad(let reason, let line): found.append("\(line): \(reason)")
      }
    }
    #expect(
      found == [
        "1: [\"a\"]", "3: not a JSON object", "4: not a value at column 6", "5: [\"b\"]",
      ])
  }

  @Test(
    arguments: [
      (" \n[{\"a\":1},\n\n {\"b\":[1,{\"c\":\"],}\\\"\"}]}\n ]\n", ["2: a", "4: b"]),
      ("[]", []), ("\u{feff}[ ]\n", []), ("[\n{\"a\":\n1}\n,{\"a\":2}]", ["2: a", "4: a"]),
      ("[{\"a\":1},2,{\"b\":3}]", ["1: a", "1: not a JSON object", "1: b"]),
      ("[{\"a\":1},]", ["1: a", "1: a value is missing at column 10"]),
      ("[{\"a\":1}]\nx", ["1: a", "2: unexpected text after the array"]),
      ("[{\"a\":1},\n{\"a\":", ["1: a", "2: the array does not end"]),
      ("[{\"a\":1}}, {\"b\":2}]", ["1: unexpected text after the value at column 9", "1: b"]),
    ] as [(String, [String])])
  func arraysAreReadElementByElement(_ text: String, _ expected: [String]) throws {
    let (reader, folder) = try lines(Array(text.utf8))
    defer { withExtendedLifetime(folder) {} }
    #expect(try reader.firstByte() == UInt8(ascii: "["))
    let input = JSONArrayReader(reader)
    var found: [String] = []
    while let item = try input.next() {
      switch item {
      case .record(let members, let line): found.append("\(line): \(members[0].name)")
      case .bad(let reason, let line): found.append("\(line): \(reason)")
      }
    }
    #expect(found == expected)
  }

  private func csv(_ text: String, bufferBytes: Int = 16) throws -> [String] {
    try csv(Array(text.utf8), bufferBytes: bufferBytes)
  }

  private func csv(_ bytes: [UInt8], bufferBytes: Int = 16) throws -> [String] {
    let (reader, folder) = try lines(bytes, bufferBytes: bufferBytes)
    defer { withExtendedLifetime(folder) {} }
    let input = try CSVReader(reader)
    var found = [input.header.joined(separator: "|")]
    while let item = try input.next() {
      switch item {
      case .record(let fields, let line):
        found.append("\(line): " + fields.map { $0 ?? "null" }.joined(separator: "|"))
      case .bad(let reason, let line): found.append("\(line): bad, \(reason)")
      }
    }
    return found
  }

  @Test func csvKnowsQuotesAndLineEnds() throws {
    let text = "\u{feff}a,\"b \"\"x\"\"\",c\r\n1,,\"\"\r\n\r\n\"two\r\nlines\",\"x,y\",z\r\n7,8,9"
    #expect(
      try csv(text) == ["a|b \"x\"|c", "2: 1|null|", "4: two\r\nlines|x,y|z", "6: 7|8|9"])
  }

  @Test(arguments: [16, 17, 18, 19, 20, 21, 64])
  func csvTakesEveryKindOfLineEnd(_ bufferBytes: Int) throws {
    for end in ["\n", "\r\n", "\r"] {
      #expect(try csv("\u{feff}a,\"b\"" + end, bufferBytes: bufferBytes) == ["a|b"])
      let text = ["a,b", "1,\"x\ry\"", "", "2,\"\"", "3,\"p\nq\r\nr\"", "4,"].joined(separator: end)
      // A line end inside quotes is a line of its own.
      #expect(
        try csv(text, bufferBytes: bufferBytes) == [
          "a|b", "2: 1|x\ry", "5: 2|", "6: 3|p\nq\r\nr", "9: 4|null",
        ], "\(end.debugDescription)")
    }
    #expect(
      try csv("a,b\r1,2\n3,4\r\n\"5\r\n\",6\r\r\n7,8\n\r9,\"10\"\r", bufferBytes: bufferBytes)
        == ["a|b", "2: 1|2", "3: 3|4", "4: 5\r\n|6", "7: 7|8", "9: 9|10"])
    // With one column, an empty line is a record.
    #expect(try csv("a\r\r1\r", bufferBytes: bufferBytes) == ["a", "2: null", "3: 1"])
  }

  @Test func csvNamesBadLinesAndGoesOn() throws {
    let text = "a,b\n1\n\"x\"y,2\nx\"y,2\n1,2,3\nok,1\n\"never,\nclosed"
    #expect(
      try csv(text) == [
        "a|b", "2: bad, 1 fields, but the header has 2",
        "3: bad, text after the closing quote of field 1",
        "4: bad, a quote inside the unquoted field 1",
        "5: bad, 3 fields, but the header has 2", "6: ok|1", "7: bad, a closing quote is missing",
      ])
    #expect(
      try csv([0x61, 0x0a, 0xff, 0x0a, 0x22, 0xff, 0x22, 0x0a]) == [
        "a", "2: bad, field 1 is not UTF-8 \(TextEncoding.hint)",
        "3: bad, field 1 is not UTF-8 \(TextEncoding.hint)",
      ])
  }

  @Test func csvNeedsAHeader() {
    for text in ["", "a,a\n", "\"x"] {
      #expect(throws: ToolError.self, "\(text)") { try csv(text) }
    }
  }

  @Test(arguments: [11, 12, 13] as [UInt64], [false, true])
  func csvReadsBackWhatItWrites(seed: UInt64, crlf: Bool) throws {
    var random = SeededRandom(seed: seed)
    let parts = ["", "a", "\"", ",", "\n", "\r\n", "\r", "ü", " ", "text"]
    for columns in 1...4 {
      var writer = CSVWriter(crlf: crlf)
      var rows: [[String?]] = [(0..<columns).map { "c\($0)" }]
      for _ in 0..<200 {
        rows.append(
          (0..<columns).map { _ in
            guard random.next() % 5 > 0 else { return nil }
            return (0..<random.next() % 4).map { _ in parts.randomElement(using: &random)! }
              .joined()
          })
      }
      // A record of several nulls and nothing else is an empty line only with one column.
      for row in rows { writer.write(row) }
      let (reader, folder) = try lines(writer.bytes, bufferBytes: 32)
      defer { withExtendedLifetime(folder) {} }
      let input = try CSVReader(reader)
      var read: [[String?]] = [input.header]
      while let item = try input.next() {
        guard case .record(let fields, _) = item else { break }
        read.append(fields)
      }
      #expect(read == rows)
    }
  }
}
