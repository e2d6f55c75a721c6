/// The revisions of a server's functions and triggers.
///
/// The first line of each function has the revision of the program that made it; the first
/// functions had none. It differs from the format: programs of all revisions of a format work with
/// each other. `tarn server migrate` replaces earlier functions in place, so that fixes reach
/// existing servers.
struct ServerRevision {
  private let operation: String
  /// The lowest and the highest revision of the functions that do not belong to a class.
  private let functions: (lowest: Int, highest: Int)
  private let classes: [Int: ClassRevision]

  private struct ClassRevision {
    let table: String
    /// The lowest of its functions.
    let revision: Int
    let hasAllTriggers: Bool
  }

  /// - Parameter operation: the operation that errors name.
  init(_ connection: ServerConnection, _ operation: String) throws(ServerError) {
    self.operation = operation
    let functions = try connection.query(
      """
      SELECT p.proname, coalesce(
        substring(p.prosrc FROM '^ *\(ServerSchema.markStart)([0-9]+)')::integer, 1)
      FROM pg_proc p WHERE p.pronamespace = to_regnamespace('tarn')
      """, for: operation)
    var (shared, ofClasses): ([Int], [Int: Int]) = ([], [:])
    for row in functions {
      guard let name = row[0], let revision = row[1].flatMap({ Int($0) }) else { continue }
      let numbers = ClassTriggers.functionNames.compactMap { prefix in
        name.rest(afterBytesOf: prefix).flatMap { Int($0) }
      }
      if let id = numbers.first {
        ofClasses[id] = min(ofClasses[id] ?? revision, revision)
      } else {
        shared.append(revision)
      }
    }
    self.functions = (shared.min() ?? 0, shared.max() ?? 0)
    let triggers =
      ServerWarnings.triggers.map { $0.name + $0.state } + ["\(ClassTriggers.firstName)A"]
    let rows = try connection.query(
      """
      SELECT c.id, c.tab::regclass, (SELECT count(*) FROM pg_trigger t
        WHERE t.tgrelid = c.tab AND t.tgname || t.tgenabled::text = ANY ($1::text[]))
      FROM tarn.class c JOIN pg_class k ON k.oid = c.tab
      """, [SQLText.array(triggers)], for: operation)
    var classes: [Int: ClassRevision] = [:]
    for row in rows {
      guard let id = row[0].flatMap({ Int($0) }) else { continue }
      classes[id] = ClassRevision(
        table: row[1] ?? "", revision: ofClasses[id] ?? 0,
        hasAllTriggers: row[2] == "\(triggers.count)")
    }
    self.classes = classes
  }

  var hasCurrentFunctions: Bool { functions.lowest >= ServerSchema.revision }

  /// Whether a class has all triggers, and none of an earlier revision.
  func hasCurrentTriggers(_ id: Int) -> Bool {
    guard let one = classes[id] else { return false }
    return one.hasAllTriggers && one.revision >= ServerSchema.revision
  }

  var isCurrent: Bool { hasCurrentFunctions && classes.keys.allSatisfy(hasCurrentTriggers) }

  /// Why this program must not replace functions: they belong to a newer version.
  var newerProblem: ServerError? {
    guard functions.highest > ServerSchema.revision else { return nil }
    return ServerError(
      operation,
      "the server's functions have revision \(functions.highest), this program's"
        + " \(ServerSchema.revision)", hint: "Use a newer Tarn.")
  }

  /// Sentences about earlier or newer functions, each with the remedy.
  var warnings: [String] {
    var warnings: [String] = []
    if let newerProblem {
      warnings.append("\(newerProblem.message): use a newer Tarn to change the server")
    } else if !hasCurrentFunctions {
      warnings.append(
        "the server's functions have revision \(functions.lowest), this program's"
          + " \(ServerSchema.revision); run 'tarn server migrate'")
    }
    for (_, one) in classes.sorted(by: { $0.key < $1.key })
    where one.revision < ServerSchema.revision {
      warnings.append(
        "the triggers of \(one.table) have revision \(one.revision), this program's"
          + " \(ServerSchema.revision); run 'tarn server migrate'")
    }
    return warnings
  }
}
