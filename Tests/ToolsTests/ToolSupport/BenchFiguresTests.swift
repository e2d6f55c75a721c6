import TarnText
import Testing

@testable import ToolSupport

@Suite struct BenchFiguresTests {
  @Test func medianAndPercentiles() {
    #expect(Statistics.median([3, 1, 2]) == 2)
    #expect(Statistics.median([4, 1, 2, 3]) == 2.5)
    let hundred = (1...100).map(Double.init).shuffled()
    #expect(Statistics.percentile(0.5, of: hundred) == 50)
    #expect(Statistics.percentile(0.99, of: hundred) == 99)
    #expect(Statistics.percentile(1, of: hundred) == 100)
    #expect(Statistics.percentile(0, of: [7]) == 7)
    var runs = [9.0, 1, 5, 3, 7]
    #expect(Statistics.median { runs.removeFirst() } == 5)
    #expect(runs.isEmpty)
  }

  @Test(arguments: [
    (BenchUnit.seconds, 2.5e-9, "2.5 ns"), (.seconds, 1.234e-5, "12.3 µs"),
    (.seconds, 0.0999, "99.9 ms"), (.seconds, 12, "12 s"), (.perSecond, 5324.4, "5,324/s"),
    (.bytes, 61_865_984, "59 MiB"), (.bytes, 504, "504 B"), (.seconds, 0, "0 ns"),
  ])
  func figuresReadWell(_ unit: BenchUnit, _ value: Double, _ text: String) {
    #expect(unit.text(value) == text)
  }

  @Test func targetsKnowWhichWayIsBetter() {
    var rate = BenchFigure("W2a", "commits", .perSecond, ours: 80, floor: 100)
    rate.target = .ratio(0.85)
    #expect(rate.ratio == 0.8)
    #expect(rate.isReached == false)
    #expect(rate.targetText == "≥ 0.85 ×")
    rate.ours = 86
    #expect(rate.isReached == true)
    var time = BenchFigure("W7", "one change", .seconds, ours: 90e-6, target: .value(100e-6))
    #expect(time.isReached == true)
    #expect(time.targetText == "≤ 100 µs")
    #expect(time.ratio == nil)
    time.ours = nil
    #expect(time.isReached == nil)
  }

  @Test func theTableAndItsJSONSayTheSame() throws {
    let machine = BenchMachine(
      processor: "Frog \"9\"", cores: 2, memoryMiB: 1024, kernel: "6.1", commit: "abc")
    var table = BenchTable(machine: machine, objects: 1_000_000)
    table.figures = [
      BenchFigure(
        "W2a", "durable commits", .perSecond, ours: 90, floor: 100, sqlite: 120,
        target: .ratio(0.85)),
      BenchFigure("W7", "one change", .seconds, ours: 0.5, target: .value(100e-6)),
      BenchFigure("W9", "many observers", .seconds),
    ]
    #expect(
      table.text() == """
        Frog "9", 2 cores, 1024 MiB, Linux 6.1, commit abc, 1,000,000 objects

             workload           Tarn  baseline  ratio    target  SQLite
        W2a  durable commits    90/s     100/s  0.9 ×  ≥ 0.85 ×   120/s  reached
        W7   one change       500 ms         –      –  ≤ 100 µs       –  missed
        W9   many observers        –         –      –         –       –

        1 of 2 targets reached

        """)
    let json = try JSONScanner.value(in: table.json(date: "2024-01-31T00:00:00Z"))
    #expect(json["processor"] == .string("Frog \"9\""))
    guard case .array(let figures)? = json["figures"] else {
      Issue.record("no figures")
      return
    }
    #expect(figures[0]["ratio"] == .double(0.9))
    #expect(figures[0]["reached"] == .bool(true))
    #expect(figures[2]["ours"] == .null)
    #expect(figures[2]["reached"] == .null)
  }

  @Test func thisMachineHasAName() {
    #expect(BenchMachine.current.cores > 0)
    #expect(!BenchMachine.current.kernel.isEmpty)
  }
}
