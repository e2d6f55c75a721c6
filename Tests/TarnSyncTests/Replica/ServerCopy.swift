@testable import TarnSync

/// A copy of what a server has, to which it is restored later: a backup that was put back, or a
/// standby that was behind.
struct ServerCopy {
  private let classes: [String]
  private let tables: [String]
  private let administrator: ServerConnection

  /// Copies the server's tables. A later copy replaces this one.
  init(
    _ administrator: ServerConnection, classes: [String] = ["Thing", "Note", "Box"]
  ) throws {
    self.administrator = administrator
    self.classes = classes.map { "\"\($0)\"" }
    tables = self.classes + ["tarn.gone", "tarn.replica"]
    var script = "DROP SCHEMA IF EXISTS backup CASCADE; CREATE SCHEMA backup;"
    for (number, table) in tables.enumerated() {
      script += "CREATE TABLE backup.t\(number) AS TABLE \(table);"
    }
    try administrator.run(script, for: "back up")
  }

  /// - Parameter announces: whether the server says that it is another one then.
  func restore(announces: Bool = true) throws {
    var script = "BEGIN;"
    for (number, table) in tables.enumerated() {
      script += "ALTER TABLE \(table) DISABLE TRIGGER ALL; DELETE FROM \(table);"
      script += "INSERT INTO \(table) OVERRIDING SYSTEM VALUE TABLE backup.t\(number);"
      script += "ALTER TABLE \(table) ENABLE TRIGGER ALL;"
    }
    for table in classes {
      for trigger in ["~tarn", "~tarn_gone"] {
        script += "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \"\(trigger)\";"
      }
    }
    try administrator.run(script + "COMMIT", for: "restore")
    if announces { _ = try ServerRepair(administrator).restore() }
  }
}
