import Foundation
import TarnText
import TestSupport
import Testing

@testable import ToolSupport

@Suite struct JSONTests {
  @Test(arguments: [
    ("null", JSONValue.null), (" true ", .bool(true)), ("-0", .double(-0.0)), ("0", .integer(0)),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .whole("9223372036854775808")), ("1.0", .double(1)),
    ("1e3", .double(1000)), ("-2.5E-2", .double(-0.025)), ("\"\"", .string("")),
    (#""a\"\\\/\b\f\n\r\tz""#, .string("a\"\\/\u{8}\u{c}\n\r\tz")),
    (#""\u00e4\ud83d\ude00ö""#, .string("ä😀ö")), ("[]", .array([])), ("{ }", .object([])),
    (
      "[1, \"x\" ,{\"b\":2,\"a\":[null]}]",
      .array([
        .integer(1), .string("x"),
        .object([.init("b", .integer(2)), .init("a", .array([.null]))]),
      ])
    ),
  ])
  func valuesAreRead(_ text: String, _ value: JSONValue) throws {
    #expect(try JSONScanner.value(in: text) == value)
  }

  @Test(arguments: [
    "", " ", "nul", "tru", "+1", "01", "1.", ".5", "1e", "-", "1 2", "[1,]", "[1 2]", "{\"a\"}",
    "{\"a\":}", "{a:1}", "{\"a\":1,}", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
    "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"", "1e999", "NaN", "[", "{", "]", "'a'",
  ])
  func whatIsNotJSONIsRefused(_ text: String) {
    #expect(throws: JSONError.self) { try JSONScanner.value(in: text) }
  }

  @Test func bytesThatAreNotUTF8AreRefused() {
    let bytes: [UInt8] = [0x22, 0x61, 0xff, 0x22]
    bytes.withUnsafeBytes { raw in
      let error = #expect(throws: JSONError.self) { try JSONScanner.value(in: raw) }
      #expect(error?.description == "a string is not UTF-8 at column 2")
    }
  }

  @Test func depthIsLimited() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try JSONScanner.value(in: nested(512))
    #expect(throws: JSONError.self) { try JSONScanner.value(in: nested(513)) }
  }

  @Test func objectsAreWrittenOneALine() {
    var json = JSONText()
    json.beginObject()
    json.key("a\"b")
    json.integer(.min)
    json.key("list")
    json.beginArray()
    json.null()
    json.bool(true)
    json.float(0.1)
    json.double(5)
    json.beginObject()
    json.endObject()
    json.endArray()
    json.key("u")
    json.unsigned(.max)
    json.endObject()
    json.endLine()
    let line = #"{"a\"b":-9223372036854775808,"list":[null,true,0.1,5.0,{}],"#
    #expect(json.text == line + #""u":18446744073709551615}"# + "\n")
  }

  @Test func stringsAreEscapedSoThatFoundationReadsThemBack() throws {
    let hard = "\u{0}\u{1}\u{1f}\u{7f}\"\\/\n\r\t\u{8}\u{c}ä😀\u{2028}e\u{301}"
    var json = JSONText()
    json.beginArray()
    json.string(hard)
    json.endArray()
    let read = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String]
    #expect(read?.first?.unicodeScalars.elementsEqual(hard.unicodeScalars) == true)
  }

  @Test func numbersThatAreNotFiniteAreStrings() {
    for value in [Double.infinity, -.infinity, .nan] {
      var json = JSONText()
      json.double(value)
      #expect(json.text == "\"\(JSONText.name(ofNonFinite: value))\"")
      let name = JSONText.name(ofNonFinite: value)
      #expect(JSONText.nonFinite(named: name)?.bitPattern == value.bitPattern)
    }
    #expect(JSONText.nonFinite(named: "inf") == nil)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func whatIsWrittenIsReadBack(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<500 {
      let value = randomValue(&random, depth: 4)
      var json = JSONText()
      json.value(value)
      #expect(try JSONScanner.value(in: json.text) == value)
    }
  }

  private func randomValue(_ random: inout SeededRandom, depth: Int) -> JSONValue {
    switch random.next() % (depth > 0 ? 7 : 5) {
    case 0: return .null
    case 1: return .bool(random.next() % 2 == 0)
    case 2: return .integer(Int64(bitPattern: random.next() >> (random.next() % 64)))
    case 3:
      let double = Double(bitPattern: random.next())
      return double.isFinite ? .double(double) : .double(0.1)
    case 4: return .string(randomText(&random))
    case 5:
      return .array((0..<random.next() % 4).map { _ in randomValue(&random, depth: depth - 1) })
    default:
      return .object(
        (0..<random.next() % 4).map { _ in
          JSONMember(randomText(&random), randomValue(&random, depth: depth - 1))
        })
    }
  }

  private func randomText(_ random: inout SeededRandom) -> String {
    var text = ""
    for _ in 0..<random.next() % 8 {
      let value = UInt32(
        truncatingIfNeeded: random.next() % (random.next() % 2 == 0 ? 128 : 0x11000))
      text.unicodeScalars.append(Unicode.Scalar(value) ?? "?")
    }
    return text
  }
}
