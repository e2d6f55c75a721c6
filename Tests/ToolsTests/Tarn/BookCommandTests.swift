import Foundation
import RealmFixtures
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

  /// They need versions before and after, which the article does not make.
  @Test func theShellsCommands() throws {
    try file("pets.jsonl", #"{"name": "Rex", "age": 3, "colour": "brown"}"#)
    try run("tarn import pets.realm pets.jsonl --class Dog")
    let lines = try blocks("sh", "Shell").flatMap { $0.split(separator: "\n").map(String.init) }
    let commands = lines.filter { !$0.hasPrefix("tarn watch ") }
    try #require(commands.count == 9)
    for command in commands.prefix(6) { try run(command) }
    try file("more.jsonl", (0..<60).map { #"{"title": "Rex \#($0)", "age": 1}\#n"# }.joined())
    try run(
      "tarn import pets.realm more.jsonl --class Dog --nullable weight --batch 1 --on-error skip")
    // Like 'diff', it says by its status that there is a difference.
    let printed = try commands.suffix(3).map {
      try run($0.contains("@41") ? "\($0); [ $? = 1 ]" : $0)
    }
    #expect(printed[0].split(separator: "\n").count > 60)
    #expect(printed[1].contains("Rex"))
    #expect(try run("tarn count pets.realm Dog") == "60\n")
  }

  @Test func aFileOfRealm() throws {
    _ = try home.file("old.realm", RealmFixture.named("tiny").bytes)
    let printed = try commands("FromRealmFiles").map { try run($0) }
    try #require(printed.count == 2)
    #expect(printed[1].contains("class Dog: "))
  }

  private static let nginx = "/usr/sbin/nginx"

  @Test(
    .enabled(
      if: FileManager.default.fileExists(atPath: nginx),
      "installing nginx would start a server on this machine"))
  func theConfigurationOfNginx() throws {
    let block = try #require(blocks("nginx", "DaemonExamples").first)
    let http = block.replacing("/var/cache/nginx/pages", with: home.file("pages"))
    try file(
      "nginx.conf",
      """
      pid \(home.file("pid"));
      events {}
      http {
        access_log off;
        \(["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
          "\($0)_temp_path \(home.file($0));"
        }.joined(separator: "\n"))
      \(http)
      }

      """)
    try run("\(Self.nginx) -t -q -e '\(home.file("log"))' -c '\(home.file("nginx.conf"))'")
  }

  private static let systemd = "/usr/bin/systemd-analyze"

  @Test(.enabled(if: FileManager.default.fileExists(atPath: systemd)))
  func theUnitOfAService() throws {
    let unit = try #require(blocks("ini", "Servers").first)
    try file("jobs.service", unit.replacing("/usr/local/bin/jobs", with: ToolProcess.tarn.path))
    try run("\(Self.systemd) verify --man=no --recursive-errors=no ./jobs.service")
  }

  /// What the article adds to the unit of the package.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: systemd)))
  func theUnitOfABackup() throws {
    let change = try #require(blocks("ini", "BackupAndUpgrade").first)
    let unit = try String(
      contentsOfFile: "\(Self.root)/Tools/package/tarn-backup.service.in", encoding: .utf8)
    try file(
      "tarn-backup@.service",
      unit.replacing("@PREFIX@/bin/tarn", with: ToolProcess.tarn.path))
    let folder = home.file("tarn-backup@pets.service.d")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try home.file("tarn-backup@pets.service.d/override.conf", Array(change.utf8))
    try run(
      "\(Self.systemd) verify --man=no --recursive-errors=no ./tarn-backup@pets.service 2>&1")
    // The units that enabling needs are those of the package.
    let commands = try #require(blocks("sh", "BackupAndUpgrade").first)
    #expect(commands.contains("tarn-backup@pets.timer"))
    let timer = "\(Self.root)/Tools/package/tarn-backup.timer"
    #expect(FileManager.default.fileExists(atPath: timer))
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
