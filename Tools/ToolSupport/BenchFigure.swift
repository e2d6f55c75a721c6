import Foundation

/// The unit of a figure. It decides how the figure is written and whether less or more is better.
package enum BenchUnit: String, Sendable {
  /// Less is better. Written in ns, µs, ms or s.
  case seconds
  /// More is better.
  case perSecond
  /// Less is better. Written in MiB or, below one, in B.
  case bytes

  package var moreIsBetter: Bool { self == .perSecond }

  /// A figure with its unit, with three digits if that is exact enough.
  package func text(_ value: Double) -> String {
    switch self {
    case .perSecond: return grouped(value) + "/s"
    case .bytes:
      return value < 1_048_576 ? "\(grouped(value)) B" : digits(value / 1_048_576) + " MiB"
    case .seconds:
      if value < 1e-6 { return digits(value * 1e9) + " ns" }
      if value < 1e-3 { return digits(value * 1e6) + " µs" }
      return value < 1 ? digits(value * 1e3) + " ms" : digits(value) + " s"
    }
  }
}

/// The target of a workload.
package enum BenchTarget: Sendable, Equatable {
  /// Tarn divided by the floor: at most this, or at least this if more is better.
  case ratio(Double)
  /// Tarn's figure: at most this, or at least this if more is better.
  case value(Double)
}

/// One line of the benchmark: a workload on Tarn, on its baseline (a plain C program on raw LMDB
/// that does only that job, unless the title names another one), and on SQLite.
package struct BenchFigure: Sendable, Equatable {
  /// The workload's short name, such as `W2a`.
  package let id: String
  package let title: String
  package let unit: BenchUnit
  /// Nil if the workload was not run.
  package var ours: Double?
  package var floor: Double?
  package var sqlite: Double?
  package var target: BenchTarget?

  package init(
    _ id: String, _ title: String, _ unit: BenchUnit, ours: Double? = nil, floor: Double? = nil,
    sqlite: Double? = nil, target: BenchTarget? = nil
  ) {
    self.id = id
    self.title = title
    self.unit = unit
    self.ours = ours
    self.floor = floor
    self.sqlite = sqlite
    self.target = target
  }

  /// Tarn divided by the floor; nil if one of them is missing.
  package var ratio: Double? {
    guard let ours, let floor, floor > 0 else { return nil }
    return ours / floor
  }

  /// Whether the target is reached; nil without a target or without a figure to compare.
  package var isReached: Bool? {
    func compare(_ value: Double?, _ limit: Double) -> Bool? {
      value.map { unit.moreIsBetter ? $0 >= limit : $0 <= limit }
    }
    switch target {
    case .ratio(let limit): return compare(ratio, limit)
    case .value(let limit): return compare(ours, limit)
    case nil: return nil
    }
  }

  /// The target in words: `≤ 1.5 ×`, `≥ 0.85 ×`, `≤ 100 µs`.
  package var targetText: String {
    let sign = unit.moreIsBetter ? "≥" : "≤"
    switch target {
    case .ratio(let limit): return "\(sign) \(digits(limit)) ×"
    case .value(let limit): return "\(sign) \(unit.text(limit))"
    case nil: return "–"
    }
  }
}

/// Three significant digits, without an exponent and without zeros at the end.
func digits(_ value: Double) -> String {
  guard value.isFinite, value != 0 else { return value == 0 ? "0" : "\(value)" }
  let size = Int(log10(abs(value)).rounded(.down))
  let decimals = max(0, 2 - size)
  var text = String(format: "%.\(decimals)f", value)
  if decimals > 0 {
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
  }
  return text
}

/// A whole number with commas between thousands.
package func grouped(_ value: Double) -> String {
  guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
  let plain = String(Int64(abs(value).rounded()))
  var text = ""
  for (index, digit) in plain.enumerated() {
    if index > 0, (plain.count - index) % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return (value <= -0.5 ? "-" : "") + text
}
