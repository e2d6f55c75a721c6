import ToolSupport

/// Former versions.
extension CommandTable {
  static let undo = CommandSpec(
    "undo", "Takes back one commit.",
    discussion: """
      Properties that the commit set get their former values, objects that it added are deleted, and
      objects that it deleted come back, with the links to them; all in a commit of its own. 'tarn
      log FILE' lists the commits. If later commits changed the same, they are listed, and nothing
      is changed; --overwrite takes the commit back even so.

      The file must have the change records since then, with the old values, and no migration may
      have come later. 'retention set FILE --age 7d --old-values' keeps those of later commits.
      """,
    positionals: [file, PositionalSpec("VERSION", "the version that the commit made")],
    options: [
      .flag("overwrite", "take it back even if later commits changed the same"), timeout,
    ])

  static let revert = CommandSpec(
    "revert", "Returns to the objects of a version.",
    discussion: """
      Takes back everything that commits after the version changed, in a commit of its own: no
      version is lost, and 'undo' can take back the revert, too. Needs the same as 'undo'.
      """,
    positionals: [file, PositionalSpec("VERSION", "the version to return to")],
    options: [timeout])
}
