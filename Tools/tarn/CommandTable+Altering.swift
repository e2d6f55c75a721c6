import ToolSupport

/// Changes of classes.
extension CommandTable {
  static let alter = CommandSpec(
    "alter", "Changes the properties of a class.",
    discussion: """
      All changes of a command are one commit, or none is made. Objects get 0, "" and the like in a
      new property that cannot be null. --type converts the values: each must be held exactly by the
      new type, or nothing is changed. --drop drops the values, and unique rules that need the
      property.

          tarn alter pets.tarn Dog --add 'weight:double?' --rename name=title --index title

      Programs that have the file open go on if their classes still fit. Otherwise they keep the
      version that they show, their observers end with an error, and their next write fails until
      they open the file with new classes. A program that still declares a property which was
      dropped or renamed adds it again, empty, when it opens the file: --schema-version N refuses
      programs of lower versions.

      The class's objects are in memory until the commit if their values move: with --type,
      --rename and --nullable.
      """,
    positionals: [file, oneClass],
    options: [
      .value(
        "add", "COL:TYPE,...", repeats: true,
        "add properties; types as for 'import --types': \(typeNames)"),
      .value(
        "rename", "OLD=NEW,...", repeats: true,
        "rename properties; the values stay, and other options take either name"),
      .value("drop", "COL,...", repeats: true, "drop properties with their values"),
      .value("type", "COL:TYPE,...", repeats: true, "convert properties to other types"),
      .value("nullable", "COL,...", repeats: true, "let properties be null"),
      .value("index", "COL,...", repeats: true, "add indexes"),
      .value("no-index", "COL,...", repeats: true, "drop indexes"),
      .value("schema-version", "N", "the file's schema version from now on (default: as it is)"),
      timeout,
    ])
}
