/// Writes JSON incrementally into bytes, one object per line.
///
/// Doubles are written with the fewest digits that read back as the same number, and with a
/// fraction even if they are whole (`5.0`), so that a reader can distinguish them from integers.
/// JSON has no infinity and no NaN: these are written as the strings "Infinity", "-Infinity" and
/// "NaN", which the importer accepts in a column of doubles.
package struct JSONText {
  /// The bytes written since the last `removeAll()` or `takeBytes()`.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  /// The bytes written, as a String.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// A value as text.
  package static func text(_ value: JSONValue) -> String {
    String(decoding: bytes(value), as: UTF8.self)
  }

  /// A value as the bytes of its text.
  package static func bytes(_ value: JSONValue) -> [UInt8] {
    var json = JSONText()
    json.value(value)
    return json.bytes
  }

  /// Removes the bytes written and keeps the capacity.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Takes the bytes written so far, even in the middle of a value, which can then be continued.
  package mutating func takeBytes() -> [UInt8] {
    // A copy, so that a short line does not keep the capacity of a long one.
    let taken = bytes.withUnsafeBufferPointer { Array($0) }
    bytes.removeAll(keepingCapacity: true)
    return taken
  }

  package mutating func beginObject() { open(UInt8(ascii: "{")) }
  package mutating func endObject() { close(UInt8(ascii: "}")) }
  package mutating func beginArray() { open(UInt8(ascii: "[")) }
  package mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Ends a line, and with it the value.
  package mutating func endLine() {
    bytes.append(0x0a)
    needsComma = false
  }

  /// The name of the member whose value comes next.
  package mutating func key(_ name: String) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func null() { raw("null") }
  package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }
  package mutating func integer(_ value: Int64) { raw(value.description) }

  /// An integer beyond Int64's range could not be imported again; a version number has 64 unsigned
  /// bits, and JSON sets no limit.
  package mutating func unsigned(_ value: UInt64) { raw(value.description) }

  package mutating func double(_ value: Double) {
    if value.isFinite { raw(value.description) } else { string(Self.name(ofNonFinite: value)) }
  }

  /// The shortest digits that read back as the same Float, not those of the equal Double.
  package mutating func float(_ value: Float) {
    if value.isFinite {
      raw(value.description)
    } else {
      string(Self.name(ofNonFinite: Double(value)))
    }
  }

  package mutating func string(_ value: String) {
    separate()
    quote(value)
    needsComma = true
  }

  /// Any value, as it was parsed.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .whole(let text), .number(let text): raw(text)
    case .double(let value): double(value)
    case .string(let value): string(value)
    case .array(let items):
      beginArray()
      for item in items { self.value(item) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.name)
        self.value(member.value)
      }
      endObject()
    }
  }

  /// The string for a number that is not finite.
  package static func name(ofNonFinite value: Double) -> String {
    value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
  }

  /// The number that such a string denotes.
  package static func nonFinite(named name: String) -> Double? {
    switch name {
    case "NaN": return .nan
    case "Infinity": return .infinity
    case "-Infinity": return -.infinity
    default: return nil
    }
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func quote(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { utf8 in
      var plainStart = 0
      for (index, byte) in utf8.enumerated() {
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
          continue
        }
        bytes.append(contentsOf: utf8[plainStart..<index])
        plainStart = index + 1
        escape(byte)
      }
      bytes.append(contentsOf: utf8[plainStart...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0c: bytes.append(UInt8(ascii: "f"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    case 0x00..<0x20:
      let hex = Array("0123456789abcdef".utf8)
      bytes.append(contentsOf: Array("u00".utf8))
      bytes.append(hex[Int(byte >> 4)])
      bytes.append(hex[Int(byte & 15)])
    default: bytes.append(byte)
    }
  }
}
