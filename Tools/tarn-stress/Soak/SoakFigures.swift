import Foundation
import TarnStore
import ToolSupport

/// The figures of a soak over time.
struct SoakFigures {
  private var file = SoakSeries("on the disk")
  private var used = SoakSeries("used pages")
  /// By the kind of process.
  private var memory: [String: SoakSeries] = [:]
  private var writes = SoakSeries("writes, median")
  private var slowWrites = SoakSeries("writes, slowest 1 %")
  private var wakes = SoakSeries("wake-ups, median")
  private var slowWakes = SoakSeries("wake-ups, slowest 1 %")
  private var copies = SoakSeries("copies, median")

  mutating func noteFile(_ path: String, at time: Double) {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return }
    file.append(Double(facts.st_blocks) * 512, at: time)
  }

  mutating func notePages(_ path: String, at time: Double) throws {
    let pages = try Environment.verifyPages(path: path)
    used.append(Double((pages.pageCount - pages.freePages) * pages.pageSize), at: time)
  }

  /// - Parameter kilobytes: each process's own memory.
  mutating func noteMemory(_ kind: String, _ kilobytes: [Double], at time: Double) {
    guard !kilobytes.isEmpty else { return }
    memory[kind, default: SoakSeries(kind)].append(
      Statistics.median(kilobytes) * 1024, at: time)
  }

  /// The times since the last call, in microseconds.
  mutating func noteTimes(_ role: StressChild.Role, _ times: [Double], at time: Double) {
    guard !times.isEmpty else { return }
    let (middle, slow) = (Statistics.median(times), Statistics.percentile(0.99, of: times))
    switch role {
    case .pulse:
      writes.append(middle, at: time)
      slowWrites.append(slow, at: time)
    case .listener:
      wakes.append(middle, at: time)
      slowWakes.append(slow, at: time)
    case .copier: copies.append(middle, at: time)
    case .writer, .observer: break
    }
  }

  /// A process's own memory, in kilobytes, without the mapped file; nil if it has ended.
  static func memory(of process: pid_t) -> Double? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    else { return nil }
    for line in status.splitASCII("\n") {
      let words = line.split(whereSeparator: { " \t".contains($0) })
      if words.count > 1, words[0] == "RssAnon:" { return Double(words[1]) }
    }
    return nil
  }

  // MARK: - Judging

  private static let (megabyte, millisecond) = (1_048_576.0, 1_000.0)

  private static func size(_ bytes: Double) -> String {
    String(format: "%.2f MiB", bytes / megabyte)
  }

  private static func time(_ microseconds: Double) -> String {
    String(format: "%.2f ms", microseconds / millisecond)
  }

  private typealias Judged = (series: SoakSeries, least: Double, text: (Double) -> String)

  /// The slowest percent is shown and not judged: it has what the disturbances do.
  private var judged: [Judged] {
    [(file, 4 * Self.megabyte, Self.size), (used, 4 * Self.megabyte, Self.size)]
      + memory.keys.sorted().map { (memory[$0]!, Self.megabyte, Self.size) }
      + [writes, wakes].map { ($0, Self.millisecond, Self.time) }
      + [(copies, 50 * Self.millisecond, Self.time)]
  }

  /// A line for each figure, and the names of those that grow.
  func report(_ length: Double) -> (lines: [String], growing: [String]) {
    var (lines, growing): ([String], [String]) = ([], [])
    for (series, least, text) in judged {
      let name = series.name.padding(toLength: 22, withPad: " ", startingAt: 0)
      guard let verdict = series.verdict(length, least: least) else {
        lines.append("\(name) too few figures")
        continue
      }
      lines.append(
        "\(name) \(text(verdict.mean)), growth in the last half \(text(verdict.growth)), bound "
          + text(verdict.bound))
      if !verdict.isFlat { growing.append(series.name) }
    }
    return (lines, growing)
  }

  func chart(_ title: String, _ length: Double) -> SoakChart {
    SoakChart(
      title: title, length: length,
      panels: [
        SoakChart.Panel(title: "The file", series: [file, used], text: Self.size),
        SoakChart.Panel(
          title: "Memory of a process, without the mapped file",
          series: memory.keys.sorted().map { memory[$0]! }, text: Self.size),
        SoakChart.Panel(
          title: "Latency, median", series: [writes, wakes], text: Self.time),
        SoakChart.Panel(
          title: "Latency, slowest 1 %", series: [slowWrites, slowWakes], text: Self.time),
        SoakChart.Panel(title: "A copy", series: [copies], text: Self.time),
      ])
  }
}
