package import TarnStore

/// Dates in exports: ISO 8601 in the proleptic Gregorian calendar, to the nanosecond.
package enum ISODate {
  /// Writes a point in time in UTC: `2024-01-31T10:20:30Z`, with as many decimals as needed.
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
      // Only damaged files have more than nine digits.
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

  /// The date of a day counted from 1970-01-01.
  private static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
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
