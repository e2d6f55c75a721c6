import Foundation

/// Inserts the figures into the documentation: tables and single values between markers of a
/// Markdown file, and charts as SVG files.
///
/// A marker is an HTML comment, which readers do not see: `<!-- bench:writing -->` … `<!-- /bench
/// -->` is the table of a group, `<!-- bench:W7.ours -->` … `<!-- /bench -->` one figure. The text
/// between the two is replaced, so that no figure is copied by hand.
package struct BenchPages {
  private let results: BenchResults

  package init(_ results: BenchResults) { self.results = results }

  private static let opening = "<!-- bench:"
  private static let closing = "<!-- /bench -->"

  /// The text of a Markdown file with the current figures.
  package func updated(_ text: String) throws(ToolError) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.range(of: Self.opening) {
      let tail = rest[start.upperBound...]
      guard let nameEnd = tail.range(of: " -->") else {
        throw ToolError("the end of a marker '\(Self.opening)' is missing")
      }
      let name = String(tail[..<nameEnd.lowerBound])
      guard let end = tail.range(of: Self.closing) else {
        throw ToolError("the marker '\(name)' is not followed by '\(Self.closing)'")
      }
      result += rest[..<nameEnd.upperBound] + (try content(name)) + Self.closing
      rest = rest[end.upperBound...]
    }
    return result + rest
  }

  /// The charts, as file names and their contents.
  package var charts: [(name: String, svg: String)] {
    ([BenchGroup.eight] + BenchGroup.all).compactMap { group in
      let chart = BenchChart(title: group.title, figures: recorded(group).map(\.figure))
      return chart.isEmpty ? nil : ("bench-\(group.name).svg", chart.svg)
    }
  }

  private func content(_ name: String) throws(ToolError) -> String {
    if name == "runs" { return "\n" + runs + "\n" }
    if name == "targets" { return "\n" + targets + "\n" }
    if let group = ([BenchGroup.eight] + BenchGroup.all).first(where: { $0.name == name }) {
      return "\n" + table(group) + "\n"
    }
    let parts = name.splitASCII(".").map(String.init)
    guard parts.count == 2, let figure = results.figures[parts[0]]?.figure else {
      throw ToolError("unknown marker 'bench:\(name)'")
    }
    let values = ["ours": figure.ours, "baseline": figure.floor, "sqlite": figure.sqlite]
    guard let value = values[parts[1]] ?? nil else {
      throw ToolError("the marker 'bench:\(name)' names a value that was not measured")
    }
    return figure.unit.text(value)
  }

  private func recorded(_ group: BenchGroup) -> [BenchResults.Figure] {
    group.ids.compactMap { results.figures[$0] }
  }

  private var hasOneRun: Bool { results.runs.count == 1 }

  private func table(_ group: BenchGroup) -> String {
    let head = ["workload", "Tarn", "baseline", "SQLite", "ratio", "target"]
    var rows = [head + (hasOneRun ? [] : ["run"])]
    rows.append(rows[0].map { _ in "---" })
    for recorded in recorded(group) {
      let figure = recorded.figure
      func cell(_ value: Double?) -> String { value.map(figure.unit.text) ?? "–" }
      let verdict = figure.isReached.map { $0 ? ", reached" : ", missed" } ?? ""
      rows.append(
        [
          "\(figure.id) \(figure.title)", cell(figure.ours), cell(figure.floor),
          cell(figure.sqlite), figure.ratio.map { digits($0) } ?? "–", figure.targetText + verdict,
        ] + (hasOneRun ? [] : [letter(recorded.run)]))
    }
    return rows.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
  }

  private func letter(_ run: Int) -> String {
    String(UnicodeScalar(UInt8(ascii: "a") + UInt8(run % 26)))
  }

  /// The machine, the commit and the date of each run.
  private var runs: String {
    let objects = "with \(grouped(Double(results.objects))) objects"
    if hasOneRun { return "Measured \(Self.words(results.runs[0])), \(objects)." }
    let list = results.runs.enumerated().map { "- \(letter($0)): \(Self.words($1))" }
    return "Measured \(objects), in several runs:\n\n" + list.joined(separator: "\n")
  }

  private static func words(_ run: BenchRun) -> String {
    let machine = run.table.machine
    var text = "on \(run.date.prefix(10)) on \(machine.processor), \(machine.cores) cores"
    if machine.memoryMiB > 0 {
      text += ", \(Int((Double(machine.memoryMiB) / 1024).rounded())) GiB"
    }
    if !machine.kernel.isEmpty { text += ", Linux \(machine.kernel)" }
    return text + (machine.commit == "unknown" ? "" : ", commit \(machine.commit)")
  }

  private var targets: String {
    let judged = BenchGroup.all.flatMap(recorded).map(\.figure).filter { $0.isReached != nil }
    let missed = judged.filter { $0.isReached == false }.map(\.id)
    let sum = "\(judged.count - missed.count) of \(judged.count) targets are reached."
    return missed.isEmpty ? sum : sum + " Missed: \(missed.joined(separator: ", "))."
  }
}
