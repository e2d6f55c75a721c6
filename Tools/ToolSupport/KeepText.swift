package import Tarn
package import TarnStore

/// How much a cursor or a file keeps, as an option has it: `7d`, `500MB`, `7d,1GB`, `none`.
package struct KeepText: Equatable, Sendable {
  package private(set) var microseconds: UInt64?
  package private(set) var bytes: UInt64?

  package init(_ text: String) throws(UsageError) {
    if text == "none" { return }
    for part in text.splitASCII(",", omittingEmpty: false) {
      if let age = Self.duration(part), microseconds == nil {
        microseconds = age
      } else if let size = Self.size(part), bytes == nil {
        bytes = size
      } else {
        throw UsageError(
          "'\(text)' is not a limit: give an age such as 90s, 5m, 2h or 7d, a size such as 500MB "
            + "or 1GB, both with a comma, or none")
      }
    }
  }

  /// The same as a limit for a cursor, which cannot be 0.
  package func ofCursor() throws(UsageError) -> KeepText {
    if microseconds == 0 || bytes == 0 {
      throw UsageError(
        "a cursor with the limit 0 would need a full resync with each batch: give a "
          + "longer age, a larger size, or none")
    }
    return self
  }

  package var limits: CursorLimits { CursorLimits(age: microseconds, bytes: bytes) }

  /// `90s`, `5m`, `2h` or `7d` in microseconds; nil for another text.
  package static func duration(_ text: some StringProtocol) -> UInt64? {
    let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = text.last.flatMap({ units[$0] }), let number = UInt64(text.dropLast())
    else { return nil }
    let (time, isTooLong) = number.multipliedReportingOverflow(by: unit * 1_000_000)
    return isTooLong || time > UInt64(Int64.max) ? nil : time
  }

  /// `1000`, `500kB`, `500MB` or `1GB`; nil for another text.
  package static func size(_ text: some StringProtocol) -> UInt64? {
    let units: [(String, UInt64)] = [
      ("kB", 1_000), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
      ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1), ("", 1),
    ]
    guard let (name, unit) = units.first(where: { text.endsWithBytes(of: $0.0) }),
      let number = UInt64(text.dropLast(name.count)), number <= 1 << 30 || unit == 1
    else { return nil }
    return number * unit
  }

  /// An age for people.
  package static func text(microseconds: UInt64) -> String {
    let seconds = microseconds / 1_000_000
    for (unit, name) in [(86_400, "d"), (3600, "h"), (60, "m")] as [(UInt64, String)]
    where seconds >= unit && seconds % unit == 0 {
      return "\(seconds / unit)\(name)"
    }
    return "\(seconds)s"
  }

  /// Limits for people.
  package static func text(_ limits: CursorLimits) -> String {
    let parts = [
      limits.age.map { text(microseconds: $0) }, limits.bytes.map { sizeText(Int(clamping: $0)) },
    ].compactMap { $0 }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}

extension LagLimit {
  package init(_ text: KeepText) {
    self.init(
      age: text.microseconds.map { .microseconds(Int64(clamping: $0)) },
      bytes: text.bytes.map { Int(clamping: $0) })
  }
}
