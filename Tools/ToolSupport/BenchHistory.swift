import Foundation
import TarnText

/// One recorded run of the benchmark.
package struct BenchRun: Sendable, Equatable {
  /// When the run ended, as ISO 8601.
  package let date: String
  package let table: BenchTable

  package init(date: String, table: BenchTable) {
    self.date = date
    self.table = table
  }
}

/// The recorded runs, oldest first.
package struct BenchHistory: Sendable {
  package let runs: [BenchRun]

  package init(runs: [BenchRun]) { self.runs = runs }

  /// Reads lines that `BenchTable.json(date:)` wrote.
  package init(_ text: String) throws(ToolError) {
    var runs: [BenchRun] = []
    for (number, line) in text.splitASCII("\n").enumerated() {
      do {
        runs.append(try BenchRun(JSONScanner.value(in: String(line))))
      } catch {
        throw ToolError("line \(number + 1) of the history is not a run of tarn-bench: \(error)")
      }
    }
    self.runs = runs
  }

  /// The newest figure of each workload, from all runs with that many objects.
  package func newest(objects: Int) throws(ToolError) -> BenchResults {
    var figures: [String: BenchResults.Figure] = [:]
    for (number, run) in runs.enumerated() where run.table.objects == objects {
      for figure in run.table.figures where figure.ours != nil {
        figures[figure.id] = BenchResults.Figure(figure: figure, run: number)
      }
    }
    guard !figures.isEmpty else {
      throw ToolError("the history has no run with \(grouped(Double(objects))) objects")
    }
    let used = Set(figures.values.map(\.run)).sorted()
    let places = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, $0) })
    return BenchResults(
      figures: figures.mapValues {
        BenchResults.Figure(figure: $0.figure, run: places[$0.run] ?? 0)
      },
      runs: used.map { runs[$0] }, objects: objects)
  }
}

/// The figures that the documentation shows: one per workload.
package struct BenchResults: Sendable {
  package struct Figure: Sendable {
    package let figure: BenchFigure
    /// The position of its run in `runs`.
    package let run: Int
  }

  package let figures: [String: Figure]
  /// The runs that the figures come from, oldest first: one, unless the newest run lacks some
  /// figures.
  package let runs: [BenchRun]
  package let objects: Int
}

extension BenchRun {
  fileprivate init(_ json: JSONValue) throws(ToolError) {
    date = try json.text("date")
    let machine = BenchMachine(
      processor: try json.text("processor"), cores: try json.whole("cores"),
      memoryMiB: try json.whole("memory_mib"), kernel: try json.text("kernel"),
      commit: try json.text("commit"))
    guard case .array(let figures)? = json["figures"] else { throw ToolError("it has no figures") }
    var table = BenchTable(machine: machine, objects: try json.whole("objects"))
    for figure in figures {
      // Before the history was committed, lines had neither titles nor targets.
      guard figure["title"] != nil else { throw ToolError("the figures have no titles") }
      table.figures.append(try BenchFigure(figure))
    }
    self.table = table
  }
}

extension BenchFigure {
  fileprivate init(_ json: JSONValue) throws(ToolError) {
    let name = try json.text("unit")
    guard let unit = BenchUnit(rawValue: name) else {
      throw ToolError("'\(name)' is not a unit")
    }
    var target: BenchTarget?
    if let limit = json["target"]?["ratio"]?.number { target = .ratio(limit) }
    if let limit = json["target"]?["value"]?.number { target = .value(limit) }
    self.init(
      try json.text("id"), try json.text("title"), unit, ours: json["ours"]?.number,
      floor: json["floor"]?.number, sqlite: json["sqlite"]?.number, target: target)
  }
}

extension JSONValue {
  fileprivate func text(_ name: String) throws(ToolError) -> String {
    guard case .string(let text)? = self[name] else { throw ToolError("'\(name)' is missing") }
    return text
  }

  fileprivate func whole(_ name: String) throws(ToolError) -> Int {
    guard case .integer(let number)? = self[name] else { throw ToolError("'\(name)' is missing") }
    return Int(number)
  }

  fileprivate var number: Double? {
    switch self {
    case .double(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}
