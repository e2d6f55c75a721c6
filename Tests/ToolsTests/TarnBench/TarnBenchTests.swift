import Foundation
import TestSupport
import Testing
import ToolSupport

/// The benchmark itself, at a size at which its figures mean nothing.
@Suite(.serialized) struct TarnBenchTests {
  /// Runs the tool that was built beside the tests.
  private func run(_ arguments: [String]) throws -> (
    status: Int32, output: String, errors: String
  ) {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("tarn-bench")
    process.arguments = arguments
    let output = Pipe.ofOneProcess()
    process.standardOutput = output
    let folder = TemporaryFolder()
    let log = "\(folder.path)/errors"
    #expect(FileManager.default.createFile(atPath: log, contents: nil))
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: bytes, as: UTF8.self),
      try String(contentsOfFile: log, encoding: .utf8)
    )
  }

  @Test func `a tiny run measures every workload, appends a line and leaves nothing`() throws {
    let folder = TemporaryFolder()
    let history = "\(folder.path)/history.ndjson"
    let run = try run(["--tiny", "--json", "--append", history, "--folder", folder.path])
    #expect(run.status == 0, "\(run.errors.suffix(2000))")
    #expect(try String(contentsOfFile: history, encoding: .utf8) == run.output)
    let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
    let figures = try #require((object as? [String: Any])?["figures"] as? [[String: Any]])
    // W15c is less than a tick of the clock for a few watches, and so are W16i, W16k, W16w and W16z
    // for a few polls. What sync adds to few rows is less than the noise, and so is what W7qr adds
    // to few queries.
    var mayBeNothing = ["W7qr", "W15c", "W16i", "W16k", "W16rd", "W16vd", "W16w", "W16z"]
    // A sanitizer's allocator does not tell how much it gave.
    if Sanitizer.active != nil { mayBeNothing += ["W7qb", "W9b", "W14m", "W16n", "W16p", "W19m"] }
    let ours = figures.filter { figure in
      (figure["ours"] as? Double ?? 0) > 0 || mayBeNothing.contains(figure["id"] as? String ?? "")
    }
    .compactMap { $0["id"] as? String }
    // Each of them has a place in the documentation.
    #expect(ours.sorted() == BenchGroup.all.flatMap(\.ids).sorted())
    #expect(folder.names == ["history.ndjson"])
    let recorded = try BenchHistory(run.output).newest(objects: 2000)
    #expect(recorded.figures.count == figures.count)
  }

  private static let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4)
    .joined(separator: "/")
  private static let catalog = "Sources/Tarn/Documentation.docc"
  private static let pages = ["README.md", "\(catalog)/Benchmarks.md"]

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// A copy of what has figures in it, with other figures.
  private func copyOfDocumentation(_ folder: TemporaryFolder) throws {
    let files = FileManager.default
    for part in ["Tools", Self.catalog + "/Resources"] {
      try files.createDirectory(
        atPath: "\(folder.path)/\(part)", withIntermediateDirectories: true)
    }
    let history = "Tools/bench-history.ndjson"
    try files.copyItem(atPath: "\(Self.root)/\(history)", toPath: "\(folder.path)/\(history)")
    for page in Self.pages {
      let other = try text("\(Self.root)/\(page)").replacing(", reached |", with: ", frogs |")
      try Data(other.utf8).write(to: folder.url(page))
    }
  }

  @Test func `the documentation shows the newest figures of the history`() throws {
    let folder = TemporaryFolder()
    try copyOfDocumentation(folder)
    #expect(try run(["--pages", folder.path]).status == 0)
    let charts = try FileManager.default
      .contentsOfDirectory(atPath: "\(folder.path)/\(Self.catalog)/Resources")
    #expect(charts.count == 1 + BenchGroup.all.count)
    for file in Self.pages + charts.map({ "\(Self.catalog)/Resources/\($0)" }) {
      #expect(
        try text("\(folder.path)/\(file)") == text("\(Self.root)/\(file)"),
        "\(file) has other figures than the history: make bench-pages")
    }
  }

  @Test func `every group of workloads has its table and its chart`() throws {
    let article = try text("\(Self.root)/\(Self.pages[1])")
    for group in BenchGroup.all {
      #expect(article.contains("## \(group.title)\n"))
      #expect(article.contains("<!-- bench:\(group.name) -->"))
      #expect(article.contains("](Resources/bench-\(group.name).svg)"))
    }
    let readme = try text("\(Self.root)/README.md")
    #expect(readme.contains("(\(Self.catalog)/Resources/bench-eight.svg)"))
  }

  @Test func `a history without a large run is refused`() throws {
    let folder = TemporaryFolder()
    try copyOfDocumentation(folder)
    _ = try folder.file("Tools/bench-history.ndjson", [])
    #expect(try run(["--pages", folder.path]).status == 1)
  }

  @Test func `an unknown workload is refused`() throws {
    #expect(try run(["--only", "W99"]).status == 2)
  }
}
