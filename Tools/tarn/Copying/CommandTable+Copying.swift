import ToolSupport

/// Copies of files.
extension CommandTable {
  static let copy = CommandSpec(
    "copy", "Copies a store while others write to it.",
    discussion: """
      DEST has the objects and the classes of one version, without free pages. It appears when it is
      complete and synced to the disk: a command that is killed leaves no part of it. The copy is
      another store: it has a history of its own, and neither change records nor cursors, the
      retention or the state of a sync. With --exact it has all of these and is the same store, as
      for moving it: use only one of the two afterwards.

          tarn copy pets.tarn copy.tarn
          tarn copy pets.tarn - | ssh host 'cat > copy.tarn'

      Never copy a store that is in use with cp: pages that are written meanwhile do not fit the
      others. The version is kept in the file until the copy ends, so the file may grow while others
      write; the command says by how much.
      """,
    positionals: [
      file, PositionalSpec("DEST", "the new file; - is standard output"),
    ],
    options: [
      .flag("exact", "keep the history, change records, cursors and the state of a sync"),
      .flag("replace", "replace the store at DEST; no process may have it open"),
    ])

  static let compact = CommandSpec(
    "compact", "Makes the file of a store as short as its contents allow.",
    discussion: """
      The store stays the same, with its history, change records and cursors. No process may have
      it open, or the command names those that do and changes nothing. Processes that open it
      meanwhile wait, at most ten seconds. The new file takes the place of the old one in one step,
      so there must be room for both.
      """,
    positionals: [file],
    options: [timeout])

  static let accept = CommandSpec(
    "accept", "Lets a store be used that a power failure may have damaged, if it is sound.",
    discussion: """
      Commits to a store that was made with the durability 'relaxed' are not synced. If the machine
      or the mount ends before the last process has closed the store in order, pages may be missing,
      and every opener refuses it. This command reads all of it from the disk and checks it as
      'inspect --check' does. If nothing is wrong, the store can be used again; the last commits may
      be missing. Otherwise it stays refused, and 'repair' makes a new store of what can be read.
      """,
    positionals: [file])

  static let flush = CommandSpec(
    "flush", "Waits until all commits to a store survive a power failure.",
    discussion: """
      For stores that programs write with the durability 'consistent', of which a power failure may
      take the last commit, and for those that were made with 'relaxed'. Of these a power failure
      may leave a damaged file; after 'flush' it is whole, but only until the next commit of any
      process. Other writers of such a store wait meanwhile.
      """,
    positionals: [file])

  static let backup = CommandSpec(
    "backup", "Copies a store into a folder, under a name with the time.",
    discussion: """
      The backup is a copy as of 'copy', such as pets-20270301T120000Z.tarn, in UTC. With --keep,
      older backups of the same store are deleted when the new one is complete: only the newest N
      stay. The folder must exist. 'restore' makes a store of a backup.

      The same store is one with the same history, wherever it is, and after 'restore'. Backups with
      its name of another store, and files that cannot be read, stay as they are and are named. What
      a backup holds decides which is newer, not the time in its name.

      With --incremental only the newest backup is a whole store. The one before becomes a file of
      what it has otherwise than the new one, with '.delta' behind its name, which is made and
      checked before the whole one is deleted. 'restore' makes each of them again.

          tarn backup pets.tarn /var/backups/pets --keep 14 --incremental
      """,
    positionals: [file, PositionalSpec("DIR", "the folder of the backups")],
    options: [
      .value("keep", "N", "keep only the newest N backups of this store"),
      .flag("incremental", "keep of the backup before only what differs from the new one"),
    ])

  static let repair = CommandSpec(
    "repair", "Makes a new store of what can be read of a damaged one.",
    discussion: """
      FILE stays as it is; no process may have it open. Each object that can be read goes to DEST,
      with its object key. Objects and values that are lost in the newest version are taken from the
      version before, if that has them, and listed by ranges of keys. What is neither here nor there
      is listed; links to lost objects are removed. Indexes are made anew. Change records, cursors,
      the retention and the state of a sync are not taken over.

      Pages that no version uses hold deleted and outdated objects as well. With --stale those whose
      place is lost are added: only where no other object has the key, and only values that are in
      the object itself.

      Exits with 1 if anything was lost. Until DEST is complete it is DEST.loading.
      """,
    positionals: [
      PositionalSpec("FILE", "the damaged store"),
      PositionalSpec("DEST", "the new store; it must not exist"),
    ],
    options: [.flag("stale", "add outdated objects where newer ones are lost")])

  static let restore = CommandSpec(
    "restore", "Makes a store of a backup.",
    discussion: """
      Without --at it is the newest backup, otherwise the one with that time or the newest one that
      was begun before it: what was committed between two backups cannot be had. The backups are
      those of the store with the name of FILE, or of the only store that the folder has backups of.
      With --replace they are those of the store at FILE, if there are any.

      The store gets a history of its own, so programs with cursors start over.

          tarn restore /var/backups/pets pets.tarn --at '2027-03-01 12:00'
      """,
    positionals: [
      PositionalSpec("DIR", "the folder of the backups"),
      PositionalSpec("FILE", "the store to make"),
    ],
    options: [
      .value("at", "TIME", "the state at that time (UTC unless it has a time zone)"),
      .flag("replace", "replace the store at FILE; no process may have it open"),
    ])
}
