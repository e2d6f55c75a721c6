import Testing

@testable import ToolSupport

/// Figures on their way from the history into the documentation.
@Suite struct BenchPagesTests {
  private let machine = BenchMachine(
    processor: "Frog", cores: 2, memoryMiB: 24_064, kernel: "6.1", commit: "abc")

  private func run(_ date: String, objects: Int = 1000, _ figures: [BenchFigure]) -> BenchRun {
    var table = BenchTable(machine: machine, objects: objects)
    table.figures = figures
    return BenchRun(date: date, table: table)
  }

  private func commits(_ ours: Double?) -> BenchFigure {
    BenchFigure(
      "W2a", "durable commits", .perSecond, ours: ours, floor: 5000, target: .ratio(0.85))
  }

  private let change = BenchFigure(
    "W7", "age > 50, 1 change", .seconds, ours: 3e-5, floor: 1.5e-4, sqlite: 0.25,
    target: .value(1e-4))

  private func pages(_ runs: [BenchRun]) throws -> BenchPages {
    BenchPages(try BenchHistory(runs: runs).newest(objects: 1000))
  }

  @Test func aRunIsReadAsItWasWritten() throws {
    let figures = [commits(4000), change, BenchFigure("W9b", "memory", .bytes, ours: 426)]
    let runs = [run("2024-01-31T00:00:00Z", figures), run("2024-02-01T00:00:00Z", [change])]
    let lines = runs.map { $0.table.json(date: $0.date) }
    #expect(try BenchHistory(lines.joined()).runs == runs)
  }

  @Test func aLineThatIsNoRunIsNamed() {
    let line = run("2024-01-31", [change]).table.json(date: "2024-01-31")
    let broken = [
      "{": "line 2 of the history is not a run of tarn-bench: ",
      #"{"date":"x","processor":"y"}"#: "'cores' is missing",
      line.replacing(#""title":"age > 50, 1 change","#, with: ""): "the figures have no titles",
      line.replacing("seconds", with: "hours"): "'hours' is not a unit",
    ]
    for (text, message) in broken {
      let error = #expect(throws: ToolError.self) { try BenchHistory(line + text) }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  @Test func eachWorkloadHasItsNewestFigure() throws {
    let history = BenchHistory(runs: [
      run("1", [change]), run("2", [commits(1), change]), run("3", [commits(2)]),
      run("4", objects: 10, [commits(3)]), run("5", [commits(nil)]),
    ])
    let results = try history.newest(objects: 1000)
    #expect(results.runs.map(\.date) == ["2", "3"])
    #expect(results.figures["W7"]?.run == 0)
    #expect(results.figures["W2a"]?.run == 1)
    #expect(results.figures["W2a"]?.figure.ours == 2)
    let error = #expect(throws: ToolError.self) { try history.newest(objects: 2_000_000) }
    #expect(error?.message == "the history has no run with 2,000,000 objects")
  }

  @Test func whatIsBetweenMarkersIsReplaced() throws {
    let page = """
      # Page

      <!-- bench:runs --><!-- /bench -->

      <!-- bench:eight -->
      | old |
      <!-- /bench -->

      One change: <!-- bench:W7.ours -->1 s<!-- /bench -->, \
      <!-- bench:W7.sqlite -->2 s<!-- /bench -->.
      <!-- bench:targets -->old<!-- /bench -->
      """
    let updated = try pages([run("2024-01-31T10:00:00Z", [commits(4000), change])]).updated(page)
    #expect(
      updated == """
        # Page

        <!-- bench:runs -->
        Measured on 2024-01-31 on Frog, 2 cores, 24 GiB, Linux 6.1, commit abc, with 1,000 objects.
        <!-- /bench -->

        <!-- bench:eight -->
        | workload | Tarn | baseline | SQLite | ratio | target |
        | --- | --- | --- | --- | --- | --- |
        | W2a durable commits | 4,000/s | 5,000/s | – | 0.8 | ≥ 0.85 ×, missed |
        | W7 age > 50, 1 change | 30 µs | 150 µs | 250 ms | 0.2 | ≤ 100 µs, reached |
        <!-- /bench -->

        One change: <!-- bench:W7.ours -->30 µs<!-- /bench -->, \
        <!-- bench:W7.sqlite -->250 ms<!-- /bench -->.
        <!-- bench:targets -->
        1 of 2 targets are reached. Missed: W2a.
        <!-- /bench -->
        """)
    let again = try pages([run("2024-01-31T10:00:00Z", [commits(4000), change])]).updated(updated)
    #expect(again == updated)
  }

  @Test func figuresOfSeveralRunsNameTheirs() throws {
    let pages = try pages([run("2024-01-30", [change]), run("2024-01-31", [commits(4500)])])
    let page = "<!-- bench:runs --><!-- /bench --><!-- bench:eight --><!-- /bench -->"
    #expect(
      try pages.updated(page) == """
        <!-- bench:runs -->
        Measured with 1,000 objects, in several runs:

        - a: on 2024-01-30 on Frog, 2 cores, 24 GiB, Linux 6.1, commit abc
        - b: on 2024-01-31 on Frog, 2 cores, 24 GiB, Linux 6.1, commit abc
        <!-- /bench --><!-- bench:eight -->
        | workload | Tarn | baseline | SQLite | ratio | target | run |
        | --- | --- | --- | --- | --- | --- | --- |
        | W2a durable commits | 4,500/s | 5,000/s | – | 0.9 | ≥ 0.85 ×, reached | b |
        | W7 age > 50, 1 change | 30 µs | 150 µs | 250 ms | 0.2 | ≤ 100 µs, reached | a |
        <!-- /bench -->
        """)
  }

  @Test func aWrongMarkerIsNamed() throws {
    let pages = try pages([run("2024-01-31", [change])])
    for (page, message) in [
      ("<!-- bench:frogs --><!-- /bench -->", "unknown marker 'bench:frogs'"),
      (
        "<!-- bench:W2a.ours --><!-- /bench -->", "unknown marker 'bench:W2a.ours'"
      ),
      ("<!-- bench:W7.frogs --><!-- /bench -->", "names a value that was not measured"),
      ("<!-- bench:runs -->", "the marker 'runs' is not followed by '<!-- /bench -->'"),
      ("<!-- bench:runs", "the end of a marker '<!-- bench:' is missing"),
    ] {
      let error = #expect(throws: ToolError.self) { try pages.updated(page) }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  @Test func barsOfOneWorkloadShareAScale() throws {
    let alone = BenchFigure("W9", "alone", .seconds, ours: 1)
    let chart = BenchChart(title: "A & B", figures: [commits(4000), alone, change])
    #expect(
      chart.svg == """
        <svg xmlns="http://www.w3.org/2000/svg" width="720" height="231" viewBox="0 0 720 231" \
        font-family="sans-serif" font-size="14">
          <title>A &amp; B</title>
          <style>
            text { fill: #1d2b38; }
            .head { font-weight: bold; }
            .note { fill: #4a5a68; }
            .ours { fill: #2f6f9f; }
            .floor { fill: #9fb0c0; }
            .sqlite { fill: #d9b45a; }
          </style>
          <rect width="720" height="231" fill="#ffffff"/>
          <text class="head" x="16" y="26">A &amp; B</text>
          <text x="16" y="48">Shorter is better. Each workload has a scale of its own.</text>
          <text class="head" x="16" y="78">W2a  durable commits</text>
          <text class="note" x="16" y="98">Tarn</text>
          <rect class="ours" x="100" y="86" width="500" height="14"/>
          <text x="608" y="98">250 µs</text>
          <text class="note" x="16" y="117">baseline</text>
          <rect class="floor" x="100" y="105" width="400" height="14"/>
          <text x="508" y="117">200 µs</text>
          <text class="head" x="16" y="152">W7  age &gt; 50, 1 change</text>
          <text class="note" x="16" y="172">Tarn</text>
          <rect class="ours" x="100" y="160" width="1" height="14"/>
          <text x="109" y="172">30 µs</text>
          <text class="note" x="16" y="191">baseline</text>
          <rect class="floor" x="100" y="179" width="1" height="14"/>
          <text x="109" y="191">150 µs</text>
          <text class="note" x="16" y="210">SQLite</text>
          <rect class="sqlite" x="100" y="198" width="500" height="14"/>
          <text x="608" y="210">250 ms</text>
        </svg>

        """)
    #expect(BenchChart(title: "A", figures: [alone]).isEmpty)
    let charts = try pages([run("2024-01-31", [commits(4000)])]).charts
    #expect(charts.map(\.name) == ["bench-eight.svg", "bench-writing.svg"])
  }
}
