/// Summaries of repeated measurements.
package enum Statistics {
  /// The middle value, or the mean of the two middle values.
  /// - Precondition: there is a value.
  package static func median(_ values: [Double]) -> Double {
    precondition(!values.isEmpty, "the median of nothing")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The smallest value such that at least the share `rank` (0...1) of all values is not greater.
  /// - Precondition: there is a value.
  package static func percentile(_ rank: Double, of values: [Double]) -> Double {
    precondition(!values.isEmpty, "a percentile of nothing")
    precondition((0...1).contains(rank), "a percentile's rank is a share from 0 to 1")
    let sorted = values.sorted()
    let index = Int((rank * Double(sorted.count)).rounded(.up)) - 1
    return sorted[max(0, index)]
  }

  /// Measures several times, five by default, and returns the median.
  package static func median<Failure>(
    of runs: Int = 5, _ measure: () throws(Failure) -> Double
  ) throws(Failure) -> Double {
    var values: [Double] = []
    for _ in 0..<runs { values.append(try measure()) }
    return median(values)
  }
}
