/// One figure over time, and whether it is flat.
package struct SoakSeries {
  /// The growth in the last half of the run, and the bound that it must not reach.
  package struct Verdict {
    package let mean: Double
    /// The slope of the last half, by its length.
    package let growth: Double
    package let bound: Double

    package var isFlat: Bool { growth <= bound }
  }

  /// The medians of so many equal parts of the last half are compared, so that single peaks do not
  /// count.
  private static let parts = 12
  /// The share of the mean by which a figure may differ without that being growth.
  private static let tolerance = 0.02
  /// How often the standard error of the slope.
  private static let deviations = 3.0

  package let name: String
  /// In bytes, or in microseconds.
  package private(set) var points: [(time: Double, value: Double)] = []

  package init(_ name: String) { self.name = name }

  package mutating func append(_ value: Double, at time: Double) { points.append((time, value)) }

  /// - Parameters:
  ///   - length: of the run.
  ///   - least: what is noise in any case: memory is allocated in large pieces.
  /// - Returns: nil if there are too few points.
  package func verdict(_ length: Double, least: Double) -> Verdict? {
    var medians: [(time: Double, value: Double)] = []
    let width = length / 2 / Double(Self.parts)
    for part in 0..<Self.parts {
      let start = length / 2 + Double(part) * width
      let values = points.filter { start <= $0.time && $0.time < start + width }.map(\.value)
      if !values.isEmpty { medians.append((start, Statistics.median(values))) }
    }
    guard medians.count > 4 else { return nil }
    let count = Double(medians.count)
    let (middle, mean) = (
      medians.reduce(0) { $0 + $1.time } / count, medians.reduce(0) { $0 + $1.value } / count
    )
    let spread = medians.reduce(0) { $0 + ($1.time - middle) * ($1.time - middle) }
    let slope = medians.reduce(0) { $0 + ($1.time - middle) * ($1.value - mean) } / spread
    let rest = medians.reduce(0) { sum, point in
      let difference = point.value - mean - slope * (point.time - middle)
      return sum + difference * difference
    }
    let error = (rest / (count - 2) / spread).squareRoot()
    let bound = max(Self.deviations * error * length / 2, Self.tolerance * mean, least)
    return Verdict(mean: mean, growth: slope * length / 2, bound: bound)
  }
}
