/// The command lines of `tarn sync` and `tarn server`, which the shell passes to `tarn-sync`.
package enum SyncCommands {
  /// The program that runs them.
  package static let program = "tarn-sync"
  package static let names: Set = ["sync", "server"]

  package static let sync = CommandSpec(
    "sync", "Replicates a store with a PostgreSQL database.",
    discussion: """
      Downloads the server's changes and sends the store's, then ends; with --follow it continues
      until SIGTERM or SIGINT. A store that does not exist is created with the server's classes.
      Other processes can read and write the store meanwhile, and one process at a time has the
      session. Prepare the server with 'tarn server' first.

      --where chooses objects by a condition on a class, written as for 'tarn query'. The store has
      the objects that meet any condition on their class, and drops the others; the server keeps
      them. The store remembers the conditions until others are given, so leaving --where out
      changes nothing: --where 'CLASS: TRUEPREDICATE' brings all objects of the class back.

      A commit that the server refuses is rolled back in the store; its class, key and reason are
      printed, and the exit status is 1. 'tarn sync status FILE' prints what the store knows about
      the server and has not sent.

      If the server does not accept the changes of a class for a reason that is not in their values,
      such as a trigger that calls a function that does not exist, the class is stuck: the other
      classes are exchanged without it, and it is retried. 'tarn sync unsent FILE' lists the changes
      that wait: the stuck classes with the server's answer, and commits. 'tarn sync skip FILE
      VERSION' rolls a commit back at the next exchange instead of sending it, and 'tarn sync skip
      FILE CLASS' all changes of a stuck class, as if the server had refused them.

      With --follow the command can start while the server is away or full: it prints the error and
      retries. A server that neither sends nor accepts a byte for the time of --timeout counts as
      away, whatever the reason: a lock, a stopped process, a dead network.

      URL is a PostgreSQL address without a password, which libpq reads from ~/.pgpass.
      """,
    positionals: [
      PositionalSpec(
        "FILE", "the store; or 'status', 'unsent' or 'skip', the store, and what to skip",
        repeats: true, written: "FILE | status FILE | unsent FILE | skip FILE VERSION|CLASS")
    ],
    options: [
      .value("to", "URL", "the server, such as postgresql://db.example/todo"),
      .value(
        "class", "NAME", repeats: true,
        "a class to exchange (default: those that the server and the store have)"),
      .value(
        "where", "CLASS: CONDITION", repeats: true,
        "exchange only the objects of the class that meet the condition"),
      .flag("follow", short: "f", "continue until a signal"),
      .value(
        "timeout", "TIME",
        "how long to wait for a connection and for each answer, such as 30s or 5m (default: 10s "
          + "for a connection, 1m for an answer)"),
    ])

  package static let server = CommandSpec(
    "server", "Prepares and maintains a PostgreSQL database for replication.",
    discussion: """
      init URL                      creates the schema 'tarn' and its roles
      status URL                    lists classes, replicas and problems
      migrate URL FILE [CLASS...]   adds the classes of a store, or their new properties
      migrate URL                   updates functions and triggers of an earlier version
      adopt URL TABLE CLASS         makes a class of an application's table
      depends URL CLASS TABLE       declares that the policies of a class depend on another table
      touch URL CLASS [CONDITION]   sends rows that were changed past the triggers
      restored URL                  to run after the database was restored from a backup
      forget URL CLASS              takes a class out of sync; its table stays
      forget URL --unseen DAYS      removes replicas that were not seen for so long

      TABLE is a name as in SQL, or its plain text; give its schema if the login's search path does
      not have it. 'init' needs a login that may create schemas in the database, owns the schema
      'public', and may create the roles tarn_owner and tarn_client or is a member of tarn_owner; it
      need not be a superuser. The other actions need membership in tarn_owner, and in the owner of
      an adopted table that they change; 'adopt' must be able to grant the owner's role.

      URL is a PostgreSQL address without a password, which libpq reads from ~/.pgpass.
      """,
    positionals: [
      PositionalSpec("ACTION", "what to do"),
      PositionalSpec("URL", "the database, such as postgresql://db.example/todo"),
      PositionalSpec("ARGUMENT", "see above", isOptional: true, repeats: true),
    ],
    options: [
      .value("unseen", "DAYS", "for forget: how long replicas were not seen"),
      .value(
        "rename", "CLASS.OLD=NEW", repeats: true,
        "for migrate: rename a property of the server as in the store"),
      .value(
        "free", "CLASS.NAME", repeats: true,
        "for migrate: free a former name for a new property"),
    ])
}
