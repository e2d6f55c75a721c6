import TarnText
import ToolSupport

/// The commands, their arguments and their help.
enum CommandTable {
  static let commands = [
    inspect, query, count, watch, importing, exporting, set, delete, reindex, log, undo, revert,
    cursor, retention, schema, create, alter, diff, dump, load, copy, compact, flush, backup,
    restore, repair, accept, shell,
    DaemonCommand.spec, SyncCommands.sync, SyncCommands.server, generate,
  ]

  static let typeNames = (ValueText.typeNames + UnixTime.allCases.map(\.typeName))
    .joined(separator: ", ")
  static let file = PositionalSpec("FILE", "the store")
  static let oneClass = PositionalSpec("CLASS", "the class")
  private static let filter = PositionalSpec(
    "FILTER", "a filter, such as 'age > 5 AND name BEGINSWITH \"R\"'", isOptional: true)
  static let namesHelp = """
    In a filter, a name with characters other than letters, digits and _ needs back quotes:
    '`Total Amount` > 5'. In options, only a name that contains a separator needs them:
    --sort '`a.b`', --columns '`Last, First`,age'. Inside, a back quote is doubled.
    """
  private static let filterOption = OptionSpec.value(
    "where", short: "w", "FILTER", "same as FILTER")
  private static let condition = OptionSpec.value(
    "where", short: "w", "FILTER", "a filter, such as 'age > 5 AND name BEGINSWITH \"R\"'")
  private static let order = OptionSpec.value(
    "sort", short: "s", "KEY[:desc]", repeats: true,
    "sort by a property; strings by bytes or by locale: name:sv, name:en:numeric, "
      + "name:nocase; separate several with commas")
  static let color = OptionSpec.value(
    "color", "WHEN", "auto (default), always or never")
  static let timeout = OptionSpec.value(
    "timeout", "SECONDS", "how long to wait for other writers (default: no limit)")
  private static let columns = OptionSpec.value(
    "columns", "NAME,...", repeats: true, "only these columns, in this order (default: all)")
  private static let limit = OptionSpec.value("limit", short: "n", "N", "only the first N")
  private static let offset = OptionSpec.value("offset", "N", "skip the first N")
  private static let group = OptionSpec.value(
    "group", short: "g", "NAME", "one line for each value of a property")
  private static let aggregates = OptionSpec.value(
    "aggregates", short: "a", "WHAT,...", repeats: true,
    "count (default), sum:NAME, min:NAME, max:NAME, avg:NAME; one that is called as the property "
      + "of --group is written with _ before its name")
  private static let explain = OptionSpec.flag(
    "explain", "print the query plan instead of the objects")
  private static let round = OptionSpec.flag(
    "round", "round numbers to what their column holds; else they are errors")
  private static let all = OptionSpec.flag("all", "all objects of the class")

  private static let inspect = CommandSpec(
    "inspect", "Shows what is in a store and who is using it.",
    positionals: [file],
    options: [
      .flag("check", "verify pages, checksums, counts and indexes; exit 1 if anything is wrong"),
      .flag("json", "print one JSON object instead of text"),
    ])

  private static let query = CommandSpec(
    "query", "Prints objects of a class.",
    discussion: """
      The table shows as many columns as fit the terminal and lists the rest below. --json writes
      one object per line, --csv a header and one line per object, both in the format of 'export'.

      --group prints one line per value of a property, in value order; --aggregates selects the
      figures for each group. --aggregates without --group covers all objects:

          tarn query FILE Dog --group breed --aggregates count,max:age,avg:weight

      \(namesHelp)
      """,
    positionals: [file, oneClass, filter],
    options: [
      filterOption, order, limit, offset, columns, .flag("table", "print a table (default)"),
      group, aggregates,
      .flag("json", "print one JSON object per line instead of a table"),
      .flag("csv", "print CSV instead of a table"), explain, color,
    ])

  private static let count = CommandSpec(
    "count", "Counts the objects of a class.",
    positionals: [file, oneClass, filter], options: [filterOption, explain])

  private static let importing = CommandSpec(
    "import",
    "Adds objects from CSV, JSON or Debian package files, or makes a store of a Realm file.",
    discussion: """
      JSON is one object after another, on a line each or over several lines, or an array of
      objects; --records data takes the array that an object has as its member 'data'. Of GeoJSON
      each feature becomes an object with its properties and its geometry. In CSV the fields are
      separated by commas, semicolons, tabs or '|', as the first lines show, or as --delimiter
      says. Input that gzip, xz, zstd or bzip2 has compressed is unpacked. Text must be UTF-8.

      Types are inferred unless given; existing columns of the class keep their types. Arrays
      become lists. Objects become embedded objects (of a class CLASS_COLUMN) if most of them have
      the same names, otherwise maps. Values of mixed types become an AnyRealmValue column. Sets
      must be declared with --types. In CSV, all of these are JSON in a field, and the column's type
      must be given or exist already.

      A column of declared type accepts for bool true, t, yes, y, on, 1 and their opposites in any
      case; for dates ISO 8601 (2024-01-02, 2024-01-02T10:20:30.5Z, 2024-01-02 10:20:30 -0500, …
      UTC), or with the types unixtime and unixtime-ms seconds or milliseconds since 1970; for data
      Base64. 'set' and quoted values in filters accept the same.

      Bad lines are reported by number, also those in which a name has two values, or that break a
      unique rule. With --on-error
      refuse, the default, a single bad line means that nothing is written and no new file is left
      behind. 'skip' omits bad lines and exits with 1; 'ignore' omits them and exits with 0.

      A new object needs a value for each column of its class that cannot be null: a line without
      one is a bad line. --defaults uses 0, false, "", 1970-01-01 and the like instead, also inside
      embedded objects. --nullable makes columns nullable; a program that declares such a property
      as not optional cannot open the file until its class is changed. In CSV an empty field is
      null, or the empty string in a string column that cannot be null.

      A pipe is copied to a temporary file first, because the types must be known before the values
      are written. With --batch it is imported as it arrives: the first batch, or the first 1000
      lines for a new class, determines the columns, and a line with another column is a bad line.

      A link is the primary key of its target, which may be in the file or on any line of any
      input. So classes that link to each other can be imported together:

          tarn import FILE dogs.jsonl people.jsonl -c Dog -c Person -k id \\
            -t owner:Person,friends:list<Person>

      A line with a link to a missing object is a bad line; with 'skip' and 'ignore' the object is
      imported without that link.
      Objects of classes without a primary key are identified by their object keys. In a new class
      the import assigns these from 0 in the order of the lines. Links to such objects are restored
      only if the whole class was exported and none of its objects had been deleted.

      A file of a Realm SDK becomes a new store with its classes and all objects:

          tarn import old.realm STORE

      The formats 20 to 24 are read, which these SDKs write since 2020. Import a copy of a file that
      a program has open. --key is then a file with the key of an encrypted one: its 64 bytes, or
      128 hexadecimal digits. The store appears when it is complete. Whatever it does not have is
      named on standard error. 'tarn schema --swift old.realm' prints classes that open the store.
      """,
    positionals: [
      PositionalSpec("FILE", "the store; created if it does not exist"),
      PositionalSpec("INPUT", "the files to read; - is standard input", repeats: true),
    ],
    options: [
      .value(
        "class", short: "c", "NAME", repeats: true,
        "the class to add to, one for each INPUT; created if it does not exist"),
      .value(
        "format", short: "f", "FORMAT",
        "csv, tsv, jsonl (also for an array), debian or realm (default: by the file's name)"),
      .value(
        "delimiter", short: "d", "CHAR", "what separates the fields of CSV: a character or tab"),
      .value(
        "records", "NAME", "the member of a JSON object that has the objects; a path of names"),
      .value(
        "key", short: "k", "[CLASS.]COL", repeats: true,
        "the primary key of all new classes, or of one class; for a Realm file, the file of its key"
      ),
      .value(
        "types", short: "t", "[CLASS.]COL:TYPE,...", repeats: true,
        "types of columns: \(typeNames); names of classes for links; TYPE? may be null; "
          + "list<TYPE>, set<TYPE>, map<TYPE>"),
      .flag("defaults", "use 0, false, \"\" and the like for missing values"),
      .value(
        "nullable", "[CLASS.]COL,...", repeats: true, "make columns nullable, existing ones too"),
      .flag("update", "update existing objects where values differ"),
      round,
      .value("on-error", "refuse|skip|ignore", "what to do with bad lines (default: refuse)"),
      .value("batch", "N", "objects per commit, with --on-error skip or ignore (default: all)"),
      timeout,
    ])

  private static let exporting = CommandSpec(
    "export", "Writes the objects of a class as JSON Lines or CSV.",
    discussion: """
      'import' reads back exactly what is written. Lists and sets are written as arrays, maps and
      embedded objects as objects, links as the primary key of their target. In an AnyRealmValue
      column, values that JSON lacks (decimals, floats, dates, data, ids and links) are written
      like {"$type":"decimal","value":"1.5"}. In CSV, collections, embedded objects and
      AnyRealmValue columns are JSON in a field.
      """,
    positionals: [file, oneClass, filter],
    options: [
      .value("format", short: "f", "FORMAT", "jsonl (default) or csv"), filterOption, order,
    ])

  private static let watch = CommandSpec(
    "watch", "Prints the objects of one class or of all classes, then each change.",
    discussion: """
      Ends on SIGINT and SIGTERM. Exits with 1 when the file is deleted, moved or replaced. Exits
      with 1 after the first state if the user cannot write the lock and signal files, or if all
      read transactions are taken: the file is then read from a private copy, which does not follow
      commits.

      With --json each line is an object: first class, version and "initial", then class, version,
      "deletions", "insertions" and "modifications". A modified object has "old" and "new" values,
      and under "collections" the deletions, insertions and modifications within each list, set or
      map; "path" names a collection within a value. A moved element is deleted and inserted.

      Each change leads from the state shown before to the current one. If the output is not read
      for a while, or a migration changes the classes, the next change covers all commits since;
      lists, sets and maps are then written whole, among the "old" and "new" values. Values have
      the column names of their version.

      With --table, on a terminal, the rows are drawn as a table that stays up to date and can be
      scrolled; q quits. Inserted (+), changed (~), moved (↕) and deleted (-) rows are marked for
      a moment. Anywhere else --table prints text.

      With --limit or --offset, only that window is shown; an object that moves into the window is
      reported as inserted.

      With --group and --aggregates, as for 'query', the rows are groups, and each change lists
      the groups inserted, deleted or changed.

      With --columns the first state has only these columns. Changes still name each object by its
      primary key or object key.

      With --cursor the watch goes on where the one before ended: the file keeps the position of the
      cursor with that name, and the records of what happened since. A new cursor starts with all
      objects (--no-initial: with the changes from now on). Each batch is one merged change, and
      with --json one object: "version", "from", "class", "position", and "inserted", "replaced",
      "modified", "entered", "left", "deleted" and "gone", each a list of objects with "key", "new",
      "properties" and, with --old-values or a FILTER, "old". "fullResync" with a reason and
      "objects" says that changes are not known: drop what you have. "repeated" says that some of it
      may have been printed before. Ignore keys that you do not have.

      A batch is acknowledged when the output has taken it; what still lies in a pipe when its
      reader dies is lost. With --ack manual it is acknowledged when its position, or its whole
      line, is read from standard input: then each change arrives at least once.

      Without a CLASS, each class that changed has a line, in the order of their names. Of several
      lines each has its number as "part"; only the first has "fullResync", and all but the last
      have "more":true and no position.
      """,
    positionals: [
      file, PositionalSpec("CLASS", "the class (default: all)", isOptional: true), filter,
    ],
    options: [
      filterOption, order, limit, offset, columns, group, aggregates,
      .flag("json", "print one JSON object per line instead of text"),
      .flag("table", "draw a table that stays up to date"),
      .flag("no-initial", "print only changes, not the first state"),
      .value("rows", "N", "rows of the first state to print as text (default: 20)"),
      .value("exit-after", "N", "exit after N changes"), explain,
      .value("cursor", "NAME", "go on where the cursor is; make it if there is none"),
      .value("ack", "auto|manual", "with --cursor: when a batch counts as delivered"), keep,
      .flag("old-values", "with --cursor: keep the values before each commit, as with a FILTER"),
      .flag("take", "with --cursor: take it from a process that hangs"), timeout, color,
    ])

  private static let keep = OptionSpec.value(
    "keep", "LIMIT",
    "how far the cursor may fall behind before it expires: 7d, 500MB, 7d,1GB or none "
      + "(default: 1 GiB)")

  private static let set = CommandSpec(
    "set", "Changes properties of objects.",
    discussion: """
      An empty VALUE is null if the column may be null; "" is the empty string. Lists, sets, maps,
      embedded objects and AnyRealmValue columns are given as JSON, as 'export' writes them. An
      embedded object needs each member that cannot be null; 'address.city=Oslo' sets one member of
      an embedded object.

      \(namesHelp)
      """,
    positionals: [
      file, oneClass, PositionalSpec("COLUMN=VALUE", "what to set", repeats: true),
    ],
    options: [condition, all, round, timeout])

  private static let delete = CommandSpec(
    "delete", "Deletes objects.",
    positionals: [file, oneClass],
    options: [condition, all, timeout])

  private static let reindex = CommandSpec(
    "reindex", "Rebuilds indexes from the objects.",
    discussion: """
      Use it when 'inspect --check' says that only indexes are wrong. Indexes of columns, primary
      keys, backlinks and unique rules are rebuilt in one commit. If two objects have the same
      primary key, or break a unique rule, all such pairs are listed and nothing is written.
      Objects and the version stay the same, so observers are not called; programs that have the
      file open use the new indexes from their next version on.

      Takes up to 200 MB of memory, whatever the size of the file, and as much space in the file as
      the indexes.
      """,
    positionals: [
      file,
      PositionalSpec(
        "CLASS[.COLUMN]", "only the indexes of a class, or of one column",
        isOptional: true),
    ],
    options: [timeout])

  private static let log = CommandSpec(
    "log", "Lists the commits whose change records the file has, newest first.",
    discussion: """
      Records are kept for cursors and for readers. Each commit has its version, the time by the
      clock of its writer, the writer, and by class what it inserted, deleted and assigned.
      --since counts the time between commits, at most an hour of each, so that a clock that was set
      changes little about it.

      With --follow the oldest commits come first, and then each new one until a signal ends it.
      --patch adds what changed: new objects (+), assigned values (~) and deleted objects (-), with
      the values before where the file keeps them.

      With --json each line is an object with "version", "commit", "time", "origin", "bytes",
      "schemaChanged" and "classes". Commits of older versions of Tarn have no time and no origin.
      """,
    positionals: [
      file, PositionalSpec("CLASS", "only commits that changed this class", isOptional: true),
    ],
    options: [
      .value("since", "DURATION", "only the last 90s, 5m, 2h or 7d"),
      .value("limit", short: "n", "N", "only the last N"),
      .flag("follow", short: "f", "print each new commit until a signal ends it"),
      .flag("patch", short: "p", "print what changed"),
      .flag("json", "print one JSON object per line instead of text"), color,
    ])

  private static let cursor = CommandSpec(
    "cursor", "Lists, shows, changes, renames or deletes cursors.",
    discussion: """
      'list' prints the cursors of a file: the version that was acknowledged last, how many versions
      and bytes of change records the file keeps for the cursor, and the process that has it.
      'show' prints all that is known of one. 'set' changes how far it may fall behind. 'rename'
      gives it the name NEW, under which its program goes on. 'delete' deletes it, and with it the
      records that only it needs.
      """,
    positionals: [
      PositionalSpec("ACTION", "list, show, set, rename or delete"), file,
      PositionalSpec("NAME", "the cursor", isOptional: true),
      PositionalSpec("NEW", "its new name, for rename", isOptional: true),
    ],
    options: [
      keep, .flag("force", "delete it even if a process has it"),
      .flag("json", "print one JSON object per line instead of text"), timeout,
    ])

  private static let retention = CommandSpec(
    "retention", "Shows or sets how long a file keeps change records without a cursor.",
    discussion: """
      'show' prints what the programs that opened the file have asked for. 'set' replaces it, also
      by less: a record is kept as long as it is within every limit that is given. Records that
      neither the retention nor a cursor nor a reader needs are removed.

          tarn retention set FILE --age 7d --bytes 500MB
      """,
    positionals: [PositionalSpec("ACTION", "show or set"), file],
    options: [
      .value("age", "DURATION", "90s, 5m, 2h or 7d"),
      .value("versions", "N", "the newest N versions"),
      .value("bytes", "SIZE", "the newest records up to 500MB or 1GB"),
      .flag("old-values", "keep the values before each commit, too"),
      .flag("none", "keep records only for cursors and readers"), timeout,
    ])

  private static let schema = CommandSpec(
    "schema", "Prints the classes of a store.",
    discussion: """
      --swift prints source that a program can take over; names that Swift does not allow are
      mapped, and with CLASS the classes that it leads to are printed as well. --json prints what
      'create' reads. Of a Realm file the classes are printed that 'import' makes of it.
      """,
    positionals: [file, PositionalSpec("CLASS", "only this class", isOptional: true)],
    options: [
      .flag("swift", "print Swift source"), .flag("json", "print one line of JSON"),
      .value(
        "key", "FILE", "the key of an encrypted Realm file: 64 bytes, or 128 hexadecimal digits"),
      color,
    ])

  private static let create = CommandSpec(
    "create", "Makes a store with classes and no objects.",
    positionals: [PositionalSpec("FILE", "the store; it must not exist")],
    options: [
      .value("schema", "FILE", "the classes, as 'schema --json' prints them; - is standard input")
    ])

  private static let diff = CommandSpec(
    "diff", "Compares two stores, or two versions.",
    discussion: """
      FILE@VERSION is a former version, as far back as the file has the change records with the old
      values: see 'undo'. 'tarn log FILE' lists the versions.

          tarn diff pets.tarn@41 pets.tarn@44

      Compares classes by name, and objects by primary key, or by object key where a class has none.
      Exits with 1 if they differ. With --json each line is an object with "class", "change", "key",
      "old" and "new".
      """,
    positionals: [
      PositionalSpec("FILE", "the store, or FILE@VERSION"),
      PositionalSpec("OTHER", "the other store, or FILE@VERSION"),
      PositionalSpec("CLASS", "only this class", isOptional: true),
    ],
    options: [.flag("json", "print one JSON object per difference"), color])

  private static let shell = CommandSpec(
    "shell", "Reads commands for one store.",
    discussion: """
      Each line is a command without FILE, such as

          query Dog age > 3 --sort name
          set Dog age=4 --where 'name == "Rex"'

      After the class, 'query', 'count' and 'watch' take everything up to the first option as the
      filter. 'help' lists the commands, and 'quit' or 'exit' ends. Tab completes commands, classes,
      columns and options; the history is kept in ~/.local/state/tarn/history. Lines that are read
      from a pipe end at the first error.

      Ctrl-C ends the command that runs. A command that writes then either writes nothing or, if it
      has begun its commit, prints its result. Ctrl-\\ ends the program.
      """,
    positionals: [file])

  private static let generate = CommandSpec(
    "generate", "Prints man pages and completions for shells.",
    discussion: """
      'words' prints what may stand in the place of the last of the words, which the completion for
      bash asks for:

          tarn generate words -- query pets.tarn Dog --sort na
      """,
    positionals: [
      PositionalSpec("WHAT", "commands, man, bash, zsh, fish or words"),
      PositionalSpec(
        "COMMAND", "for man: one command (default: the program); for words: the words of a line",
        isOptional: true, repeats: true),
    ])
}
