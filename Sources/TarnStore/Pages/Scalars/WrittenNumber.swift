internal import Glibc

/// A number as it is written: digits with at most one point, and perhaps a sign and an exponent.
package struct WrittenNumber {
  /// Numbers with up to that many digits have different doubles, which print as the numbers.
  private static let digitsOfDouble = 15
  /// Beyond any number's exponent.
  private static let exponentMax = 99_999

  private let text: String
  private let isNegative: Bool
  /// The digits from the first that is not 0 to the last.
  private let digitCount: Int
  /// The power of ten that the digits, as a whole number, are multiplied by.
  private let exponent: Int

  /// Nil for anything else: a hexadecimal number, the name of a number that is not finite.
  package init?(_ text: String) {
    var (digitCount, exponent, sawDigit, sawPoint) = (0, 0, false, false)
    var rest = Substring(text).utf8
    isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    while let byte = rest.first {
      if Self.isDigit(byte) {
        sawDigit = true
        if sawPoint { exponent -= 1 }
        if digitCount > 0 || byte != UInt8(ascii: "0") { digitCount += 1 }
      } else if byte == UInt8(ascii: "."), !sawPoint {
        sawPoint = true
      } else {
        break
      }
      rest.removeFirst()
    }
    guard sawDigit, let power = Self.power(rest) else { return nil }
    self.text = text
    self.digitCount = digitCount
    self.exponent = exponent + power
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// The exponent behind the digits, 0 without one; nil for anything else.
  private static func power(_ text: Substring.UTF8View) -> Int? {
    guard let first = text.first else { return 0 }
    var digits = text.dropFirst()
    guard first | 0x20 == UInt8(ascii: "e") else { return nil }
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
    let magnitude = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), exponentMax) }
    return isNegative ? -magnitude : magnitude
  }

  private var digits: ArraySlice<UInt8> {
    text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter(Self.isDigit)[...]
      .drop { $0 == UInt8(ascii: "0") }
  }

  /// Whether a double holds the number: printed with as many digits as are written, or in its
  /// shortest form, it is the same. So the digits that programs print of a double are held, be they
  /// 3, 17 or 20, and of 0.10000000000000000001 they are not.
  ///
  /// - Parameter value: the nearest double.
  package func isHeld(by value: Double) -> Bool {
    if digitCount == 0 { return value == 0 }
    guard value.isFinite else { return false }
    if digitCount <= Self.digitsOfDouble, value.magnitude >= .leastNormalMagnitude { return true }
    return isPrinted(by: value) || isShortest("\(value)")
  }

  /// The same for the nearest float.
  package func isHeld(by value: Float) -> Bool {
    if digitCount == 0 { return value == 0 }
    return value.isFinite && (isPrinted(by: Double(value)) || isShortest("\(value)"))
  }

  /// Whether these are the digits, without zeros at the end.
  private func isShortest(_ text: String) -> Bool {
    func significant(_ digits: ArraySlice<UInt8>)
      -> ReversedCollection<ArraySlice<UInt8>>.SubSequence
    { digits.reversed().drop { $0 == UInt8(ascii: "0") } }
    return WrittenNumber(text).map { significant($0.digits).elementsEqual(significant(digits)) }
      ?? false
  }

  private func isPrinted(by value: Double) -> Bool {
    let room = digitCount + 32
    var buffer = [CChar](repeating: 0, count: room)
    _ = unsafe withVaList([Int32(digitCount - 1), value.magnitude]) {
      unsafe vsnprintf(&buffer, room, "%.*e", $0)
    }
    let printed = buffer.lazy.map { UInt8(bitPattern: $0) }.prefix { $0 != UInt8(ascii: "e") }
      .filter(Self.isDigit)
    return printed.elementsEqual(digits)
  }

  /// The number as an integer; nil if it has a fraction, or if the integer has more than 64 bits.
  package var integer: Int64? {
    var digits = digits
    var exponent = exponent
    while exponent < 0, digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    if digits.isEmpty { return 0 }
    guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
    digits += repeatElement(UInt8(ascii: "0"), count: exponent)
    return Int64((isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self))
  }
}
