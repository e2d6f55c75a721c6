import TestSupport
import Testing
import ToolSupport

@Suite struct SoakSeriesTests {
  /// A figure at each second of a thousand.
  private func series(_ value: (Double) -> Double) -> SoakSeries {
    var series = SoakSeries("memory")
    for second in 0..<1000 { series.append(value(Double(second)), at: Double(second)) }
    return series
  }

  @Test func `a figure that differs at random is flat, whatever it did in the first half`() throws {
    var random = SeededRandom(seed: 3)
    let noisy = series { $0 < 400 ? 50 * $0 : 20_000 + Double(random.below(2000)) }
    let verdict = try #require(noisy.verdict(1000, least: 0))
    #expect(verdict.isFlat)
    #expect(abs(verdict.mean - 21_000) < 200)
  }

  @Test func `a figure that grows beside the same noise is not`() throws {
    var random = SeededRandom(seed: 3)
    let growing = series { 20_000 + 4 * $0 + Double(random.below(2000)) }
    let verdict = try #require(growing.verdict(1000, least: 0))
    #expect(!verdict.isFlat)
    #expect(abs(verdict.growth - 2000) < 300)
    #expect(growing.verdict(1000, least: 3000)?.isFlat == true)
  }

  @Test func `single peaks are no growth`() throws {
    let peaks = series { $0 == 990 || $0 == 995 ? 1_000_000 : 100 }
    #expect(try #require(peaks.verdict(1000, least: 0)).growth == 0)
  }

  @Test func `few figures have no verdict`() {
    var series = SoakSeries("memory")
    for second in 0..<4 { series.append(1, at: 900 + Double(second)) }
    #expect(series.verdict(1000, least: 0) == nil)
  }

  @Test func `the chart has a line for each series`() {
    let panel = SoakChart.Panel(title: "Memory", series: [series { $0 }]) { "\(Int($0)) kB" }
    let svg = SoakChart(title: "Soak", length: 1000, panels: [panel, panel]).svg
    #expect(svg.split(separator: "<polyline").count == 3)
    #expect(svg.contains("999 kB"))
    #expect(svg.contains("1000 s"))
    #expect(svg.contains("90.0,230.0"))
  }
}
