import Foundation
import TarnText

/// The machine and the commit of a benchmark run; a figure without them says little.
package struct BenchMachine: Sendable, Equatable {
  package var processor: String
  package var cores: Int
  package var memoryMiB: Int
  package var kernel: String
  /// The commit that was built, from TARN_COMMIT, which the Makefile sets; otherwise `unknown`.
  package var commit: String

  /// The machine of this process.
  package static var current: BenchMachine {
    var names = utsname()
    uname(&names)
    let kernel = withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let info = ProcessInfo.processInfo
    return BenchMachine(
      processor: processorName(), cores: info.processorCount,
      memoryMiB: Int(info.physicalMemory >> 20), kernel: kernel,
      commit: info.environment["TARN_COMMIT"] ?? "unknown")
  }

  private static func processorName() -> String {
    let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = text.splitASCII("\n").first { $0.beginsWithBytes(of: "model name") }
    let name = line?.splitASCII(":", maxSplits: 1).last.map(String.init) ?? "unknown"
    return String(name.trimmingASCII())
  }
}

/// The figures of one run, as a table for people and as one JSON object for the history.
package struct BenchTable: Sendable, Equatable {
  package var figures: [BenchFigure] = []
  package let machine: BenchMachine
  /// The number of objects in the workloads.
  package let objects: Int

  package init(machine: BenchMachine, objects: Int) {
    self.machine = machine
    self.objects = objects
  }

  /// The table, between a line about the machine and a summary.
  package func text(terminal: Terminal? = nil) -> String {
    typealias Column = TextTable.Column
    var table = TextTable([
      Column(""), Column("workload"), Column("Tarn", .right), Column("baseline", .right),
      Column("ratio", .right), Column("target", .right), Column("SQLite", .right), Column(""),
    ])
    for figure in figures {
      func cell(_ value: Double?) -> String { value.map(figure.unit.text) ?? "–" }
      let verdict = figure.isReached.map { $0 ? "reached" : "missed" } ?? ""
      table.add([
        figure.id, figure.title, cell(figure.ours), cell(figure.floor),
        figure.ratio.map { digits($0) + " ×" } ?? "–", figure.targetText, cell(figure.sqlite),
        verdict,
      ])
    }
    let judged = figures.compactMap(\.isReached)
    let reached = judged.count { $0 }
    return """
      \(machine.processor), \(machine.cores) cores, \(machine.memoryMiB) MiB, Linux \
      \(machine.kernel), commit \(machine.commit), \(grouped(Double(objects))) objects

      \(table.text(terminal: terminal))
      \(reached) of \(judged.count) targets reached

      """
  }

  /// One object on one line: machine, commit, time and every figure in its base unit.
  /// - Parameter date: when the run ended, as ISO 8601.
  package func json(date: String) -> String {
    var json = JSONText()
    json.beginObject()
    json.key("date")
    json.string(date)
    json.key("commit")
    json.string(machine.commit)
    json.key("processor")
    json.string(machine.processor)
    json.key("cores")
    json.integer(Int64(machine.cores))
    json.key("memory_mib")
    json.integer(Int64(machine.memoryMiB))
    json.key("kernel")
    json.string(machine.kernel)
    json.key("objects")
    json.integer(Int64(objects))
    json.key("figures")
    json.beginArray()
    for figure in figures { Self.write(figure, &json) }
    json.endArray()
    json.endObject()
    json.endLine()
    return json.text
  }

  private static func write(_ figure: BenchFigure, _ json: inout JSONText) {
    json.beginObject()
    json.key("id")
    json.string(figure.id)
    json.key("title")
    json.string(figure.title)
    json.key("unit")
    json.string(figure.unit.rawValue)
    let values = [
      ("ours", figure.ours), ("floor", figure.floor), ("ratio", figure.ratio),
      ("sqlite", figure.sqlite),
    ]
    for (name, value) in values {
      json.key(name)
      if let value { json.double(value) } else { json.null() }
    }
    json.key("target")
    write(figure.target, &json)
    json.key("reached")
    if let isReached = figure.isReached { json.bool(isReached) } else { json.null() }
    json.endObject()
  }

  private static func write(_ target: BenchTarget?, _ json: inout JSONText) {
    guard let target else { return json.null() }
    json.beginObject()
    switch target {
    case .ratio(let limit):
      json.key("ratio")
      json.double(limit)
    case .value(let limit):
      json.key("value")
      json.double(limit)
    }
    json.endObject()
  }
}
