/// The data that Tarn keeps in a database next to the tables of the classes: the schema `tarn`.
///
/// Everything belongs to a role that cannot log in. Programs may call the functions in
/// `clientFunctions`, and cannot access the tables.
enum ServerSchema {
  /// The formats of servers that this program works with. A server that it updates has the last
  /// one, and continues to serve programs that use any of them.
  static let formats = 1...1
  static var format: Int { formats.upperBound }
  /// The revision of the functions and triggers, which is raised by each change of them.
  static let revision = 8
  /// Begins the body of each function.
  static let mark = "\(markStart)\(revision)"
  static let markStart = "-- Tarn, revision "
  static let owner = "tarn_owner"
  static let client = "tarn_client"

  /// The functions that `tarn_client` may call.
  static let clientFunctions = [
    "tarn.classes()",
    "tarn.former_names()",
    "tarn.definition(integer)",
    "tarn.open(uuid, integer, integer[], xid8, xid8[])",
    "tarn.changed(integer, xid8, xid8[])",
    "tarn.fate(integer, text[], bigint[])",
    "tarn.push(uuid, text, bigint, bigint, bigint, bigint)",
    "tarn.register(uuid)",
  ]

  static let tables = schemaSQL.text("tables", ["format": "\(format)"])

  /// Adds the tables and columns that a server of an earlier revision lacks. It can run repeatedly,
  /// and runs before the functions are replaced.
  static let additions = schemaSQL.text(
    "additions", ["format": "\(format)", "identity_tables": ServerIdentity.tables])

  /// The rows of all classes, for the owner.
  static let classes = schemaSQL.text("classes")

  /// The functions that do not depend on classes. Names in them are looked up only in `pg_catalog`,
  /// so that no caller can substitute another function. Their signatures stay: programs of other
  /// versions call them.
  static let functions = functionsSQL.text(
    "functions",
    [
      "mark": mark, "oldest_format": "\(formats.lowerBound)", "classes": classes,
      "prune_gone": pruning("gone"), "prune_renewal": pruning("renewal"),
      "identity_functions": ServerIdentity.functions, "identity": ServerIdentity.value,
      "identity_source": ServerIdentity.source, "is_noted": ServerIdentity.isNoted,
    ])

  private static func pruning(_ table: String) -> String {
    functionsSQL.text("pruning", ["table": table])
  }

  private static let schemaSQL = SQLTemplates(PackageResources.schema_sql)
  private static let functionsSQL = SQLTemplates(PackageResources.functions_sql)
}
