import Foundation
import TestSupport
import Testing
import ToolSupport

/// What `tarn-sync` says and how it ends.
@Suite(.timeLimit(.minutes(30))) struct SyncCommandTests {
  private let folder = TemporaryFolder()

  private func finished(
    _ words: [String], _ program: String = OwnProgram.sibling("tarn-sync"),
    environment: [String: String] = [:]
  ) throws -> (output: [String], errors: String, end: ChildProcess.End) {
    let errors = folder.file(UUID().uuidString)
    let (output, end) = try ChildProcess(
      program, words, environment: environment, errors: errors
    ).finish()
    return (output, try String(contentsOfFile: errors, encoding: .utf8), end)
  }

  @Test func `a class that the role may not read ends the command with a message and 1`() throws {
    let server = try PostgresServer.shared.get()
    let name = "command_" + UUID().uuidString.prefix(8).lowercased()
    func sql(_ text: String) throws {
      let made = try finished(
        ["psql", "-q", "-h", server.folder, "-U", PostgresServer.administrator, "-c", text, name],
        "/usr/bin/env")
      #expect(made.end == .exited(0), "\(made.errors)")
    }
    _ = try finished(
      ["createdb", "-h", server.folder, "-U", PostgresServer.administrator, name], "/usr/bin/env")
    let url = server.address(name)
    _ = try finished(["server", "init", url])
    try sql(
      """
      CREATE TABLE thing (_id bigint PRIMARY KEY, a bigint);
      INSERT INTO thing VALUES (1, 1), (2, 5);
      CREATE ROLE \(name) LOGIN; GRANT tarn_client TO \(name)
      """)
    _ = try finished(["server", "adopt", url, "thing", "Thing"])
    let words = ["sync", folder.file("a"), "--to", server.address(name, as: name)]
    for chosen in [["--where", "Thing: a > 3"], []] {
      let refused = try finished(words + chosen)
      #expect(refused.end == .exited(1))
      #expect(refused.errors.contains("permission denied for table thing"), "\(refused.errors)")
    }
    let status = try finished(["sync", "status", folder.file("a")]).output
    #expect(status.contains { $0.contains("which fails") && $0.contains("permission denied") })
    try sql("GRANT SELECT ON thing TO \(name)")
    let done = try finished(words + ["--where", "Thing: a > 3"])
    #expect(done.end == .exited(0), "\(done.errors)")
    let later = try finished(["sync", "status", folder.file("a")]).output
    #expect(later.contains { $0.hasPrefix("downloaded") && $0.hasSuffix("yes") }, "\(later)")
  }

  /// The bound of equal answers is reached within one run.
  @Test func `one run names the class that the server does not take, and sends the others`() throws
  {
    let server = try PostgresServer.shared.get()
    let name = "command_" + UUID().uuidString.prefix(8).lowercased()
    func sql(_ text: String) throws -> [String] {
      let made = try finished(
        [
          "psql", "-qAt", "-h", server.folder, "-U", PostgresServer.administrator, "-c", text, name,
        ], "/usr/bin/env")
      #expect(made.end == .exited(0), "\(made.errors)")
      return made.output
    }
    _ = try finished(
      ["createdb", "-h", server.folder, "-U", PostgresServer.administrator, name], "/usr/bin/env")
    let url = server.address(name)
    _ = try finished(["server", "init", url])
    _ = try sql(
      """
      CREATE TABLE good (_id bigint PRIMARY KEY); CREATE TABLE bad (_id bigint PRIMARY KEY);
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM nothing_like_that(); RETURN NEW; END'
      """)
    // A class may have a number as its name, which is no version then.
    for (table, one) in [("good", "Good"), ("bad", "4711")] {
      _ = try finished(["server", "adopt", url, table, one])
    }
    let file = folder.file("stuck")
    let words = ["sync", file, "--to", url]
    #expect(try finished(words).end == .exited(0))
    _ = try sql(
      "CREATE TRIGGER fail BEFORE INSERT ON bad FOR EACH ROW EXECUTE FUNCTION fail()")
    let tarn = OwnProgram.sibling("tarn")
    let rows = folder.file("rows.csv")
    try Data("_id\n1\n".utf8).write(to: URL(fileURLWithPath: rows))
    for one in ["4711", "Good"] {
      let made = try finished(["import", file, rows, "--class", one], tarn)
      #expect(made.end == .exited(0), "\(made.errors)")
    }
    let run = try finished(words)
    #expect(run.end == .exited(1))
    #expect(run.errors.contains("cannot send the changes of 4711"), "\(run.errors)")
    #expect(try sql("SELECT count(*) FROM good") == ["1"])
    let skipped = try finished(["sync", "skip", file, "4711"])
    #expect(skipped.end == .exited(0), "\(skipped.errors)")
    let next = try finished(words)
    #expect(next.end == .exited(0))
    #expect(next.errors.contains("it was skipped by a user"), "\(next.errors)")
    #expect(try finished(["sync", "unsent", file]).output == ["the server has everything"])
    #expect(try finished(words).end == .exited(0))
  }

  private func database() throws -> (url: String, sql: (String) throws -> Void) {
    let server = try PostgresServer.shared.get()
    let name = "command_" + UUID().uuidString.prefix(8).lowercased()
    let made = try finished(
      ["createdb", "-h", server.folder, "-U", PostgresServer.administrator, name], "/usr/bin/env")
    #expect(made.end == .exited(0), "\(made.errors)")
    return (
      server.address(name),
      { text in
        let words = ["psql", "-q", "-h", server.folder, "-U", PostgresServer.administrator]
        let run = try finished(words + ["-c", text, name], "/usr/bin/env")
        #expect(run.end == .exited(0), "\(run.errors)")
      }
    )
  }

  @Test func `a class whose table is gone is named with the command`() throws {
    let (url, sql) = try database()
    _ = try finished(["server", "init", url])
    try sql(
      "CREATE TABLE thing (_id bigint PRIMARY KEY); CREATE TABLE note (_id bigint PRIMARY KEY)")
    for (table, one) in [("thing", "Thing"), ("note", "Note")] {
      _ = try finished(["server", "adopt", url, table, one])
    }
    let words = ["sync", folder.file("a"), "--to", url]
    #expect(try finished(words).end == .exited(0))
    try sql("DROP TABLE note")
    let first = try finished(words)
    #expect(first.end == .exited(0), "\(first.errors)")
    let sentence = "no longer has the table of the class"
    #expect(first.errors.contains("\(sentence) Note"), "\(first.errors)")
    try sql("DROP TABLE thing")
    for file in ["a", "new"] {
      let run = try finished(["sync", folder.file(file), "--to", url])
      #expect(run.end == .exited(1))
      #expect(run.errors.contains(sentence), "\(run.errors)")
      #expect(run.errors.contains("'tarn server restored'"), "\(run.errors)")
    }
  }

  @Test func `the first problem of a migration is a database that is not prepared`() throws {
    let (url, _) = try database()
    let (file, rows) = (folder.file("a"), folder.file("rows.csv"))
    try Data("name\nfrodo\n".utf8).write(to: URL(fileURLWithPath: rows))
    let made = try finished(
      ["import", file, rows, "--class", "Keyless"], OwnProgram.sibling("tarn"))
    #expect(made.end == .exited(0), "\(made.errors)")
    let run = try finished(["server", "migrate", url, file])
    #expect(run.end == .exited(1))
    #expect(run.errors.contains("the database is not prepared"), "\(run.errors)")
  }

  @Test func `the help has the forms of the command`() throws {
    let help = try finished(["sync", "--help"]).output.joined(separator: "\n")
    let usage =
      "Usage: tarn sync [OPTIONS] FILE | status FILE | unsent FILE | skip FILE VERSION|CLASS"
    #expect(help.contains(usage), "\(help)")
  }

  /// 2130706433 is this machine, too, but libpq looks it up as a name.
  @Test func `no login is sent without TLS to a host that the environment names`() throws {
    let listener = try StartupListener()
    defer { listener.end() }
    let service = folder.file("services")
    try Data("[far]\nhost=2130706433\n".utf8).write(to: URL(fileURLWithPath: service))
    let port = "\(listener.port)"
    let address = "dbname=x user=y port=\(port)"
    func isPlain(_ address: String, _ environment: [String: String]) throws -> Bool {
      let result = try finished(["server", "status", address], environment: environment)
      #expect(result.end == .exited(1))
      return listener.takeIsPlain()
    }
    // Without a rule for them, all would be.
    #expect(try isPlain(address, ["PGHOST": "127.0.0.1"]))
    #expect(try isPlain("\(address) sslmode=prefer", ["PGHOST": "2130706433"]))
    #expect(try !isPlain(address, ["PGHOST": "2130706433"]))
    #expect(try !isPlain(address, ["PGHOST": "/nowhere,2130706433"]))
    #expect(try !isPlain("\(address) service=far", ["PGSERVICEFILE": service]))
    #expect(try !isPlain(address, ["PGSERVICEFILE": service, "PGSERVICE": "far"]))
    #expect(try !isPlain("\(address) host=127.1", [:]))
    // libpq connects to the address, whatever the name is.
    #expect(try isPlain(address, ["PGHOST": "db.example", "PGHOSTADDR": "127.0.0.1"]))
    #expect(try isPlain("\(address) host=db.example", ["PGHOSTADDR": "127.0.0.1"]))
    #expect(try !isPlain(address, ["PGHOST": "127.0.0.1", "PGHOSTADDR": "0.0.0.0"]))
    #expect(try !isPlain("\(address) host=localhost", ["PGHOSTADDR": "0.0.0.0"]))
  }
}
