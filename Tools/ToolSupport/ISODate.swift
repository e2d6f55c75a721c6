package import TarnStore

/// Dates as ISO 8601 writes them, in the proleptic Gregorian calendar, to the nanosecond.
package enum ISODate {
  /// Reads `2024-01-31`, `2024-01-31T10:20:30Z`, `2024-01-31 10:20:30.5+02:00`, `…T10:20Z`. A time
  /// without an offset is taken as UTC. A year of more than four digits, or before 0, has a sign.
  /// Nil for anything else, days that no month has included.
  package static func parse(_ text: String) -> Timestamp? {
    var scanner = DateScanner(text)
    return scanner.timestamp()
  }

  /// Writes a point in time in UTC: `2024-01-31T10:20:30Z`, with as many decimals as it has.
  package static func text(_ timestamp: Timestamp) -> String {
    let dayNumber = floorDivide(timestamp.seconds, 86400)
    let remainder = timestamp.seconds % 86400
    let secondOfDay = remainder < 0 ? remainder + 86400 : remainder
    let (year, month, day) = civil(dayNumber)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    var text = yearText(year) + "-\(two(month))-\(two(day))"
    text += "T\(two(secondOfDay / 3600)):\(two(secondOfDay / 60 % 60)):\(two(secondOfDay % 60))"
    if timestamp.nanoseconds > 0 {
      let digits = String(timestamp.nanoseconds)
      // More than nine digits are in damaged files only.
      var fraction = String(repeating: "0", count: max(0, 9 - digits.count)) + digits
      while fraction.last == "0" { fraction.removeLast() }
      text += ".\(fraction)"
    }
    return text + "Z"
  }

  private static func yearText(_ year: Int64) -> String {
    let digits = String(year.magnitude)
    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
    let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
    return sign + zeros + digits
  }

  /// Days since 1970-01-01. Years begin in March, so that the day that comes and goes is the last.
  static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = floorDivide(shifted, 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
  }

  /// The date of a day that is counted from 1970-01-01.
  static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = dayNumber + 719468
    let era = floorDivide(shifted, 146097)
    let dayOfEra = shifted - era * 146097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    a % b < 0 ? a / b - 1 : a / b
  }
}

/// Reads a date from the front of a text.
private struct DateScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: Character) -> Bool {
    guard next == byte.asciiValue else { return false }
    position += 1
    return true
  }

  private mutating func number(digits: Int, in range: ClosedRange<Int64>) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<digits {
      guard let byte = next, byte >= 0x30, byte <= 0x39 else { return nil }
      value = value * 10 + Int64(byte - 0x30)
      position += 1
    }
    return range.contains(value) ? value : nil
  }

  /// Four digits, or a sign and at least as many.
  private mutating func year() -> Int64? {
    let isNegative = take("-")
    guard isNegative || take("+") else { return number(digits: 4, in: 0...9999) }
    let digits = bytes[position...].prefix { $0 >= 0x30 && $0 <= 0x39 }.count
    // As many as any point in time needs.
    guard (4...12).contains(digits) else { return nil }
    return number(digits: digits, in: 0...Int64.max).map { isNegative ? -$0 : $0 }
  }

  mutating func timestamp() -> Timestamp? {
    guard bytes.count >= 10, let year = year(), take("-"),
      let month = number(digits: 2, in: 1...12), take("-"),
      let day = number(digits: 2, in: 1...31)
    else { return nil }
    let days = ISODate.dayNumber(year: year, month: month, day: day)
    guard abs(days) < Int64.max / 86400 else { return nil }
    // The thirty-first of a shorter month would come back as the first of the next.
    guard ISODate.civil(days).day == day else { return nil }
    if next == nil { return Timestamp(seconds: days * 86400, nanoseconds: 0) }
    guard take("T") || take(" ") || take("t"), let time = time() else { return nil }
    return Timestamp(seconds: days * 86400 + time.seconds, nanoseconds: time.nanoseconds)
  }

  private mutating func time() -> (seconds: Int64, nanoseconds: Int32)? {
    guard let hour = number(digits: 2, in: 0...23), take(":"),
      let minute = number(digits: 2, in: 0...59)
    else { return nil }
    var second: Int64 = 0
    var nanoseconds: Int32 = 0
    if take(":") {
      guard let value = number(digits: 2, in: 0...59) else { return nil }
      second = value
      if take(".") || take(",") {
        guard let value = fraction() else { return nil }
        nanoseconds = value
      }
    }
    guard let offset = offset(), next == nil else { return nil }
    return (hour * 3600 + minute * 60 + second - offset, nanoseconds)
  }

  private mutating func fraction() -> Int32? {
    var value: Int32 = 0
    var digits = 0
    while let byte = next, byte >= 0x30, byte <= 0x39 {
      position += 1
      digits += 1
      if digits > 9 { return nil }
      value = value * 10 + Int32(byte - 0x30)
    }
    if digits == 0 { return nil }
    for _ in digits..<9 { value *= 10 }
    return value
  }

  /// Seconds that the local time is ahead of UTC.
  private mutating func offset() -> Int64? {
    if next == nil || take("Z") || take("z") { return 0 }
    let sign: Int64
    if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
    guard let hours = number(digits: 2, in: 0...23) else { return nil }
    _ = take(":")
    let minutes = next == nil ? 0 : number(digits: 2, in: 0...59)
    return minutes.map { sign * (hours * 3600 + $0 * 60) }
  }
}
