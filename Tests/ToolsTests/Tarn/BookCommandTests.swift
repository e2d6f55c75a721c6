import Foundation
import TestSupport
import Testing

/// The commands of `tarn` in the articles for newcomers, run from a home directory with the files
/// that they name. Those that wait for changes are run by the tests of `tarn watch`.
@Suite(.timeLimit(.minutes(30))) struct BookCommandTests {
  private let home = TemporaryFolder()

  private static let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4)
    .joined(separator: "/")

  private func blocks(_ language: String, _ article: String) throws -> [String] {
    let text = try String(
      contentsOfFile: "\(Self.root)/Sources/Tarn/Documentation.docc/\(article).md", encoding: .utf8)
    return text.components(separatedBy: "```\(language)\n").dropFirst().map {
      $0.components(separatedBy: "```")[0]
    }
  }

  private func commands(_ article: String) throws -> [String] {
    try blocks("sh", article).flatMap { $0.split(separator: "\n").map(String.init) }
      .filter { $0.hasPrefix("tarn ") && !$0.hasPrefix("tarn watch ") }
  }

  private func file(_ name: String, _ text: String) throws {
    _ = try home.file(name, Array(text.utf8))
  }

  @discardableResult
  private func run(_ command: String, _ place: SourceLocation = #_sourceLocation) throws -> String {
    let folder = ToolProcess.tarn.deletingLastPathComponent().path
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let shell = try ToolProcess(
      home, ["-c", command], program: "/bin/sh",
      environment: ["HOME": home.path, "PATH": "\(folder):\(path)"])
    let result = try shell.finish()
    #expect(result.status == 0, "\(command): \(result.errors)", sourceLocation: place)
    return result.output
  }

  @Test func theTutorialsCommands() throws {
    try file("tickets.json", #"{"number": 4, "item": "cake", "isDone": false, "table": 1}"#)
    try run("tarn import ~/cafe.tarn tickets.json --class Ticket --key number")
    let commands = try commands("Tutorial")
    try #require(commands.count == 6)
    let printed = try commands.map { try run($0) }
    #expect(printed[1].contains("cake"))
    #expect(printed[2].contains("changed 1 object of Ticket"))
    #expect(printed[3].hasPrefix("find: "))
    #expect(printed[4].contains("Ticket"))
  }

  @Test func dataOfSQLite() throws {
    // As `sqlite3 -json` prints it.
    try file("player.json", #"[{"id":1,"score":12,"name":"Ann"},{"id":2,"score":3,"name":"Bob"}]"#)
    let printed = try commands("FromGRDB").map { try run($0) }
    try #require(printed.count == 2)
    #expect(printed[0].hasPrefix("Player: 2 added"))
    #expect(printed[1].contains("@Persisted(primaryKey: true) var id: Int"))
  }

  @Test func dataOfSwiftData() throws {
    try file("Stop.json", #"[{"id": "s", "city": "Bath"}]"#)
    try file("Trip.json", #"[{"id": "t", "name": "West", "stops": ["s"]}]"#)
    let printed = try commands("FromSwiftData").map { try run($0) }
    try #require(printed.count == 1)
    #expect(try run("tarn query trips.tarn Trip 'ANY stops.city == \"Bath\"'").contains("West"))
  }

  private static let systemd = "/usr/bin/systemd-analyze"

  @Test(.enabled(if: FileManager.default.fileExists(atPath: systemd)))
  func theUnitOfAService() throws {
    let unit = try #require(blocks("ini", "Servers").first)
    try file("jobs.service", unit.replacing("/usr/local/bin/jobs", with: ToolProcess.tarn.path))
    try run("\(Self.systemd) verify --man=no --recursive-errors=no ./jobs.service")
  }

  /// An article's packages are those that `make setup` installs for the library.
  @Test func thePackagesOfABuild() throws {
    let command = try #require(blocks("sh", "Installing").first { $0.hasPrefix("apt-get") })
    let setup = try String(contentsOfFile: "\(Self.root)/Tools/setup.sh", encoding: .utf8)
    let packages = command.split(whereSeparator: \.isWhitespace).dropFirst(2)
    #expect(packages.count == 4)
    #expect(packages.filter { !setup.contains($0) } == [])
  }

  @Test func aCommandOfATest() throws {
    try file("items.json", #"[{"id": 2, "stock": 1}]"#)
    try run("tarn import test.tarn items.json --class Item --key id")
    let commands = try commands("Testing")
    try #require(commands.count == 1)
    try run(commands[0])
    #expect(try run("tarn count test.tarn Item 'stock == 0'") == "1\n")
  }
}
