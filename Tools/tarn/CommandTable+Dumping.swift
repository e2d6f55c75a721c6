import ToolSupport

/// Whole databases as text.
extension CommandTable {
  static let dump = CommandSpec(
    "dump", "Writes a whole store as text.",
    discussion: """
      The text has the classes, the schema version and all objects of one version, each on a line of
      JSON, with exact values, and links as object keys. 'load' makes a store of it that equals this
      one, also in the object keys:

          tarn dump pets.tarn | zstd > pets.dump.zst
          zstdcat pets.dump.zst | tarn load restored.tarn -

      Change records, cursors, the retention and the state of a sync are not part of it. The version
      is kept in the file until the dump ends, so the file may grow while others write.
      """,
    positionals: [file])

  static let load = CommandSpec(
    "load", "Makes a store of a text that 'dump' has written.",
    discussion: """
      FILE gets its name when it is complete: until then it is FILE.loading, which an error or a
      signal removes. A line that does not fit is refused with its number, and so is a text that
      ends too early. A file that is compressed is unpacked first; a pipe is read as it arrives.
      """,
    positionals: [
      PositionalSpec("FILE", "the store; it must not exist"),
      PositionalSpec("INPUT", "the text; - is standard input"),
    ])
}
