/// The functions that read the tables of all classes. Each migration replaces them, so that none of
/// them needs dynamic SQL.
enum ClassFunctions {
  private static let sql = SQLTemplates(PackageResources.class_functions_sql)

  static func text(_ classes: [ServerCatalog.Entry]) -> String {
    ["is_changed", "changed", "fate"].map { function($0, classes) }.joined(separator: "\n")
  }

  private static func function(_ name: String, _ classes: [ServerCatalog.Entry]) -> String {
    let cases = classes.map { entry in
      let body = sql.text(
        "\(name).class", ["table": entry.rows, "key": SQLText.name(entry.key)])
      return sql.text("case", ["id": "\(entry.id)", "body": body])
    }.joined(separator: "\n")
    return sql.text(
      name,
      ["classes": cases, "quote": SQLText.quote(around: cases), "mark": ServerSchema.mark])
  }
}
