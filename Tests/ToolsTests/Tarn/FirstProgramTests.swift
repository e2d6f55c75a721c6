import Foundation
import TestSupport
import Testing

/// The program and the package that README.md begins with are those of `Tools/first-program`, which
/// are built as those of a stranger would be, and run.
@Suite struct FirstProgramTests {
  private struct Failure: Error {
    var text: String
  }

  private static let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4)
    .joined(separator: "/")
  private static let package = root + "/Tools/first-program"

  private let folder = TemporaryFolder()

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The programs in README.md, in their order.
  private func programs() throws -> [String] {
    try text(Self.root + "/README.md").components(separatedBy: "```swift\n").dropFirst().map {
      $0.components(separatedBy: "```")[0]
    }
  }

  @Test func theReadmeShowsThisProgram() throws {
    let programs = try programs()
    try #require(programs.count >= 2)
    #expect(try programs[0] == text(Self.package + "/Sources/Ponies/main.swift"))
    // There the library lies beside the program, here above it.
    let package = programs[1].replacingOccurrences(of: "\"../Tarn\"", with: "\"../..\"")
    #expect(try package == text(Self.package + "/Package.swift"))
  }

  /// The package of the article that begins with an empty folder is this one with another name.
  @Test func theArticleOnTwoProcessesShowsThisPackage() throws {
    let article = try text(
      Self.root + "/Sources/Tarn/Documentation.docc/TwoProcesses.md")
    let shown = article.components(separatedBy: "```Swift\n").dropFirst().map {
      $0.components(separatedBy: "```")[0]
    }
    let package = try text(Self.package + "/Package.swift")
      .replacing("\"../..\"", with: "\"../Tarn\"").replacing("Ponies", with: "Chat")
    #expect(shown.first == package)
  }

  /// Its first commands, with the home directory in this test's folder.
  @Test func theArticleOnTwoProcessesMakesAPackage() throws {
    let article = try text(
      Self.root + "/Sources/Tarn/Documentation.docc/TwoProcesses.md")
    let commands = article.components(separatedBy: "```sh\n").dropFirst().prefix(2).map {
      $0.components(separatedBy: "```")[0]
    }
    try #require(commands[0].contains("swift package init"))
    try #require(commands[1].hasPrefix("rm "))
    _ = try run(["HOME=\(folder.path)", "sh", "-ec", commands.joined()])
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.file("Chat"))
    let kept = names.filter { $0.hasSuffix(".swift") || $0 == "Sources/Chat" }
    #expect(kept.sorted() == ["Package.swift", "Sources/Chat"])
  }

  /// Runs a program to its end, however long that takes.
  private func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = folder.url("")
    let log = try folder.file("log-\(UUID())", [])
    process.standardOutput = FileHandle(forWritingAtPath: log)
    process.standardError = process.standardOutput
    try process.run()
    process.waitUntilExit()
    let said = try text(log)
    guard process.terminationStatus == 0 else { throw Failure(text: said) }
    return said
  }

  /// Module by module, but neither optimized nor for a debugger: half a minute of one processor.
  private func build() throws -> String {
    let scratch = folder.file("build")
    _ = try run(
      [
        "nice", "swift", "build", "--package-path", Self.package, "--scratch-path", scratch,
        "--configuration", "release", "--jobs", "1", "-Xswiftc", "-Onone", "-Xswiftc", "-gnone",
      ])
    return scratch + "/release/Ponies"
  }

  @Test func itIsBuiltAndRunsAsOftenAsOneLikes() throws {
    let program = try build()
    for _ in 1...2 {
      #expect(try run([program]) == "Wrote Star to \(folder.file("default.realm"))\n")
    }
    let screen = try Screen()
    let watch = try ToolProcess(folder, ["watch"], program: program, output: screen)
    #expect(screen.text(upTo: "old ponies").hasPrefix("2 old ponies"))
    _ = try run([program])
    #expect(screen.text(upTo: "now: [] [2] []").contains("3 old ponies now: [] [2] []"))
    watch.signal(SIGKILL)
    #expect(watch.status() == -1)
  }
}
