/// Dates as text, in the proleptic Gregorian calendar, and as numbers.

extension Timestamp {
  /// The number of days from 1970-01-01 to the first day of a month in the proleptic Gregorian
  /// calendar.
  private static func days(year: Int64, month: Int64) -> Int64 {
    // Years begin in March, so that the leap day is the last day of its year.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  /// Parses `2024-05-01`, `2024-05-01T12:30`, `…:15`, `….123456789`, with `Z`, `UTC`, `GMT` or an
  /// offset like `+02:00`, `-0500` or `+02` after a time of day, with or without a space; no offset
  /// means UTC. A space may replace the `T`, and a comma the point. A year before 0 has a minus.
  /// Nil for anything else, including invalid days.
  package init?(iso8601 text: String) {
    var reader = DigitReader(text)
    let negative = reader.take("-")
    if !negative { _ = reader.take("+") }
    guard let year = reader.number(digits: 4...12), reader.take("-"),
      let month = reader.number(digits: 2...2), reader.take("-"),
      let day = reader.number(digits: 2...2), (1...12).contains(month), day >= 1
    else { return nil }
    let first = Self.days(year: negative ? -year : year, month: month)
    let (nextYear, nextMonth) = month == 12 ? (1, Int64(1)) : (0, month + 1)
    let next = Self.days(year: (negative ? -year : year) + Int64(nextYear), month: nextMonth)
    guard day <= next - first else { return nil }
    // Wider than the seconds, whose range may end within the first or the last day.
    var total = Int128(first + day - 1) * 86_400
    nanoseconds = 0
    seconds = 0
    if !reader.isAtEnd {
      guard let time = Self.timeOfDay(&reader) else { return nil }
      total += Int128(time.seconds)
      nanoseconds = time.nanoseconds
    }
    guard let whole = Int64(exactly: total) else { return nil }
    seconds = whole
  }

  /// The time of day after a date, minus its offset from UTC.
  private static func timeOfDay(_ reader: inout DigitReader) -> Timestamp? {
    guard reader.take("T") || reader.take("t") || reader.take(" "),
      let hour = reader.number(digits: 2...2), hour < 24, reader.take(":"),
      let minute = reader.number(digits: 2...2), minute < 60
    else { return nil }
    var time = Timestamp(seconds: hour * 3600 + minute * 60, nanoseconds: 0)
    if reader.take(":") {
      guard let second = reader.number(digits: 2...2), second < 60 else { return nil }
      time.seconds += second
      if reader.take(".") || reader.take(",") {
        guard let fraction = reader.fraction() else { return nil }
        time.nanoseconds = fraction
      }
    }
    guard let offset = reader.offset(), reader.isAtEnd else { return nil }
    time.seconds -= offset
    return time
  }

  /// The time in UTC, with as many digits of the second as needed, in groups of three.
  package var iso8601: String {
    let day = seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1
    // The first possible day begins before the first possible second.
    let rest = seconds &- day &* 86_400
    let date = Self.date(ofDay: day)
    func padded(_ value: Int64, _ digits: Int) -> String {
      let text = String(value.magnitude)
      let zeros = String(repeating: "0", count: max(0, digits - text.count))
      return (value < 0 ? "-" : "") + zeros + text
    }
    var text = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
    text += "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
    if nanoseconds != 0 {
      var fraction = Int64(nanoseconds)
      var digits = 9
      while fraction % 1000 == 0 {
        fraction /= 1000
        digits -= 3
      }
      text += "." + padded(fraction, digits)
    }
    return text + "Z"
  }
}

extension Timestamp {
  /// Parses seconds, or fractions of seconds, since 1970: digits, optionally with a minus and a
  /// fraction.
  ///
  /// - Parameter perSecond: 1 for seconds, 1,000 for milliseconds.
  package init?(unixTime text: String, perSecond: Int64) {
    var reader = DigitReader(text)
    let negative = reader.take("-")
    guard let whole = reader.number(digits: 1...18) else { return nil }
    var part: Int64 = 0
    if reader.take(".") {
      guard let fraction = reader.fraction() else { return nil }
      part = Int64(fraction)
    }
    guard reader.isAtEnd else { return nil }
    let nanosecondsPerUnit = 1_000_000_000 / perSecond
    let rest = (whole % perSecond) * nanosecondsPerUnit + part / perSecond
    seconds = negative ? -(whole / perSecond) : whole / perSecond
    nanoseconds = Int32(rest)
    guard negative, rest > 0 else { return }
    seconds -= 1
    nanoseconds = Int32(1_000_000_000 - rest)
  }
}

/// Parses numbers and separators from the start of a string.
private struct DigitReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { position == bytes.count }

  mutating func take(_ mark: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  mutating func number(digits allowed: ClosedRange<Int>) -> Int64? {
    var value: Int64 = 0
    var count = 0
    while position < bytes.count, count < allowed.upperBound,
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
    {
      value = value * 10 + Int64(bytes[position] - UInt8(ascii: "0"))
      position += 1
      count += 1
    }
    return count >= allowed.lowerBound ? value : nil
  }

  /// Up to nine digits after a point, in nanoseconds.
  mutating func fraction() -> Int32? {
    let start = position
    guard var value = number(digits: 1...9) else { return nil }
    for _ in (position - start)..<9 { value *= 10 }
    return Int32(value)
  }

  mutating func take(word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  /// The zone after a time of day, in seconds east of UTC; 0 without one.
  mutating func offset() -> Int64? {
    if isAtEnd { return 0 }
    _ = take(" ")
    if take("Z") || take("z") || take(word: "UTC") || take(word: "GMT") { return 0 }
    let west = take("-")
    guard west || take("+"), let hours = number(digits: 2...2), hours < 24 else { return nil }
    _ = take(":")
    var minutes: Int64 = 0
    if !isAtEnd {
      guard let read = number(digits: 2...2), read < 60 else { return nil }
      minutes = read
      // Go's form.
      if hours == 0, minutes == 0 { _ = take(word: " UTC") }
    }
    return (west ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}
