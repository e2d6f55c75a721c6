import Foundation
import ToolSupport

/// The places that show the figures: the README, an article, and charts.
struct BenchDocumentation {
  /// The folder of the project.
  let root: String

  private var history: String { root + "/Tools/bench-history.ndjson" }
  private var catalog: String { root + "/Sources/Tarn/Documentation.docc" }
  private var pages: [String] { [root + "/README.md", catalog + "/Benchmarks.md"] }

  /// Writes the newest comparable figures: those of runs with a million objects.
  func update() throws {
    let results = try BenchHistory(read(history)).newest(objects: 1_000_000)
    let figures = BenchPages(results)
    for page in pages {
      do throws(ToolError) {
        try write(figures.updated(read(page)), to: page)
      } catch {
        throw ToolError("\(page): \(error)")
      }
    }
    for chart in figures.charts { try write(chart.svg, to: "\(catalog)/Resources/\(chart.name)") }
  }

  private func read(_ path: String) throws(ToolError) -> String {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw ToolError("cannot read \(path)")
    }
    return text
  }

  private func write(_ text: String, to path: String) throws(ToolError) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw ToolError("cannot write \(path)")
    }
  }
}
