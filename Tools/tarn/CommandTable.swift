import ToolSupport

/// The commands and what each of them takes.
enum CommandTable {
  static let commands = [
    inspect, query, count, watch, importing, exporting, set, delete,
  ]

  private static let typeNames = ValueText.typeNames.joined(separator: ", ")
  private static let file = PositionalSpec("FILE", "the store")
  private static let condition = OptionSpec.value(
    "where", short: "w", "PREDICATE", "which objects, such as 'age > 5 AND name BEGINSWITH \"R\"'")
  private static let order = OptionSpec.value(
    "sort", short: "s", "KEY[:desc]", repeats: true,
    "sort by a property; several are separated by commas")
  private static let color = OptionSpec.value(
    "color", "WHEN", "auto (default), always or never")
  private static let timeout = OptionSpec.value(
    "timeout", "SECONDS", "how long to wait for other writers (default: until they are done)")
  private static let columns = OptionSpec.value(
    "columns", "NAME,...", repeats: true, "only these columns, in this order (default: all)")
  private static let all = OptionSpec.flag("all", "all objects of the class")

  private static let inspect = CommandSpec(
    "inspect", "Shows what a store holds and who uses it.",
    positionals: [file],
    options: [
      .flag("check", "verify pages, checksums, counts and indexes; exit 1 if anything is wrong"),
      .flag("json", "one JSON object instead of text"),
    ])

  private static let query = CommandSpec(
    "query", "Shows objects of a class.",
    discussion: """
      A table has the columns that fit the width of the terminal, and names the others. --json
      writes one object a line and --csv a heading and a line for each object, both as 'export'
      does.
      """,
    positionals: [file, PositionalSpec("CLASS", "the class")],
    options: [
      condition, order, .value("limit", short: "n", "N", "the first N only"), columns,
      .flag("json", "one JSON object a line instead of a table"),
      .flag("csv", "CSV instead of a table"), color,
    ])

  private static let count = CommandSpec(
    "count", "Tells how many objects of a class there are.",
    positionals: [file, PositionalSpec("CLASS", "the class")], options: [condition])

  private static let importing = CommandSpec(
    "import", "Adds objects from CSV, JSON or Debian package files.",
    discussion: """
      JSON is an object a line, or an array of objects. Types are inferred unless given; what the
      class has already is kept. Arrays become lists. Objects become embedded objects if most of
      them have the same names (of a class CLASS_COLUMN), else maps; what is of no one type becomes
      a column of any type. Sets are given with --types; in CSV all of these are JSON in a field of
      a column whose type is given or there already.

      Bad lines are reported with their numbers. With --on-error refuse, which is the default,
      nothing is written if there is one, and no file is left that was not there before. 'skip'
      passes over them and ends with 1; 'ignore' does the same and ends with 0.

      A pipe is copied to a temporary file first, since the types come before the values. With
      --batch it is imported as it comes: the first batch, or the first 1000 lines for a new class,
      tells the columns, and a line that has another one is a bad line.

      A link is given as the primary key of its target, which is in the file already or comes in
      any line of any input. So classes that link to each other are imported at once:

          tarn import FILE dogs.jsonl people.jsonl -c Dog -c Person -k id \\
            -t owner:Person,friends:list<Person>

      If a link leads nowhere, its line is a bad one; with 'skip' the property stays empty.
      Objects of classes without a primary key are known by their object keys. An import counts
      them up from 0 in a new class, in the order of the lines, and never chooses them: links to
      such objects come back only if all of the class is exported and none was deleted before.
      """,
    positionals: [
      PositionalSpec("FILE", "the store; made if it does not exist"),
      PositionalSpec("INPUT", "the files to read, - for standard input", repeats: true),
    ],
    options: [
      .value(
        "class", short: "c", "NAME", repeats: true,
        "the class to add to, one for each INPUT; made if it does not exist"),
      .value(
        "format", short: "f", "FORMAT",
        "csv, jsonl (also for an array) or debian (default: by the file's name)"),
      .value(
        "key", short: "k", "[CLASS.]COL", repeats: true,
        "the primary key of new classes, or of one"),
      .value(
        "types", short: "t", "[CLASS.]COL:TYPE,...", repeats: true,
        "types of columns: \(typeNames); names of classes for links; TYPE? may be null; "
          + "list<TYPE>, set<TYPE>, map<TYPE>"),
      .flag("update", "change objects that exist already, where values differ"),
      .value("on-error", "refuse|skip|ignore", "what a bad line does (default: refuse)"),
      .value("batch", "N", "objects a commit (default: all in one)"), timeout,
    ])

  private static let exporting = CommandSpec(
    "export", "Writes the objects of a class as JSON Lines or CSV.",
    discussion: """
      'import' reads back exactly what is written. Lists and sets are arrays, maps and embedded
      objects are objects, links the primary key of their target. In a column of any type what JSON
      has no form for is {"$type":"decimal","value":"1.5"}; so are floats, dates, data, ids and
      links. CSV has collections, embedded objects and values of any type as JSON in a field.
      """,
    positionals: [file, PositionalSpec("CLASS", "the class")],
    options: [
      .value("format", short: "f", "FORMAT", "jsonl (default) or csv"), condition, order,
    ])

  private static let watch = CommandSpec(
    "watch", "Shows a class or everything, then each difference as it happens.",
    discussion: """
      Ends on SIGINT and SIGTERM, and with 1 when the file is deleted, moved or replaced.

      With --json each line is an object: first class, version and "initial", then class, version,
      "deletions", "insertions" and "modifications". A modified object has "old" and "new" values,
      and under "collections" the deletions, insertions and modifications within each list, set or
      map; "path" leads to one within a value. What moved is deleted and inserted.

      Each difference leads from what was shown before to what is there now. If nobody reads for a
      while, or a migration changes the classes, the next one tells all that happened: there lists,
      sets and maps are told as wholes, among the "old" and "new" values. Values have the names that
      their columns had in the version they are of.

      With --columns the first state has these columns and no other. Differences name each object
      by its primary key, or its object key, all the same.
      """,
    positionals: [file, PositionalSpec("CLASS", "the class (default: all)", isOptional: true)],
    options: [
      condition, order, columns,
      .flag("json", "one JSON object a line instead of text"),
      .flag("no-initial", "differences only"),
      .value("rows", "N", "rows of the first state that are shown as text (default: 20)"),
      .value("exit-after", "N", "end after so many differences"),
      color,
    ])

  private static let set = CommandSpec(
    "set", "Changes properties of objects.",
    discussion: """
      An empty VALUE is null where the column may be null, "" is the empty text. Lists, sets, maps,
      embedded objects and values of any type are given as JSON, as 'export' writes them.
      """,
    positionals: [
      file, PositionalSpec("CLASS", "the class"),
      PositionalSpec("COLUMN=VALUE", "what to set", repeats: true),
    ],
    options: [condition, all, timeout])

  private static let delete = CommandSpec(
    "delete", "Removes objects.",
    positionals: [file, PositionalSpec("CLASS", "the class")],
    options: [condition, all, timeout])
}
