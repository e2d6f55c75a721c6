/// The command lines of `tarn sync` and `tarn server`, which the shell hands over to `tarn-sync`.
package enum SyncCommands {
  /// The program that runs them.
  package static let program = "tarn-sync"
  package static let names: Set = ["sync", "server"]

  package static let sync = CommandSpec(
    "sync", "Keeps the objects of a store and of a PostgreSQL server the same.",
    discussion: """
      Downloads what is new on the server and sends what is new in the store, then ends; with
      --follow it goes on until SIGTERM or SIGINT. A store that does not exist is made with the
      server's classes. Other processes go on reading and writing the store, and one of them at a
      time has the session. The server must have been prepared by 'tarn server'.

      --where chooses objects: the store has those that meet a condition, in the words of 'tarn
      query', and drops the others, which the server keeps. Each condition is one of a class; with
      several the store has the objects that meet any. The store remembers them until others are
      given.

      A commit that the server refuses is taken back in the store; its class, key and reason are
      printed, and the exit status is 1. 'tarn sync status FILE' says what the store knows of the
      server and what it has not sent.

      Where the server does not take the changes of a class for a reason that is not in their
      values, such as a trigger that calls a function that is not there, the other classes are
      exchanged without it, and it is tried again. 'tarn sync unsent FILE' lists what waits: the
      classes that are stuck with the server's answer, and commits. 'tarn sync skip FILE VERSION'
      takes a commit back at the next exchange instead of sending it, and 'tarn sync skip FILE
      CLASS' all changes of a class that is stuck, like what the server refuses.

      With --follow the server may be away or full at the beginning, too: the command says so and
      tries again. A server that neither sends nor takes a byte for the time of --timeout counts as
      away, whatever the reason: a lock, a stopped process, a dead network.

      URL is a PostgreSQL address without a password, which libpq reads from ~/.pgpass.
      """,
    positionals: [
      PositionalSpec(
        "FILE", "the store; or 'status', 'unsent' or 'skip', the store, and what to skip",
        repeats: true)
    ],
    options: [
      .value("to", "URL", "the server, such as postgresql://db.example/todo"),
      .value(
        "class", "NAME", repeats: true,
        "a class to exchange (default: those that the server and the store have)"),
      .value(
        "where", "CLASS: CONDITION", repeats: true,
        "exchange only the objects of the class that meet the condition"),
      .flag("follow", short: "f", "go on until a signal"),
      .value(
        "timeout", "TIME",
        "how long to wait for a connection and for each answer, such as 30s or 5m (default: 10s "
          + "for a connection, 1m for an answer)"),
    ])

  package static let server = CommandSpec(
    "server", "Prepares a PostgreSQL database for stores that meet there.",
    discussion: """
      init URL                      makes the schema 'tarn' and its roles
      status URL                    lists classes and replicas, and what is wrong
      migrate URL FILE [CLASS...]   brings classes of a store, or new properties of them
      migrate URL                   renews functions and triggers of an earlier version
      adopt URL TABLE CLASS         takes a table of an application as a class
      depends URL CLASS TABLE       says that the class's policies look at another table
      touch URL CLASS [CONDITION]   sends rows that were changed past the triggers
      restored URL                  after the database was restored from a backup
      forget URL CLASS              takes a class out of sync; its table stays
      forget URL --unseen DAYS      forgets replicas that were not seen for so long

      TABLE is a name as SQL writes it or as it is, with its schema if the login does not find it.
      'init' needs a login that may create schemas in the database, owns the schema 'public', and
      may create the roles tarn_owner and tarn_client or is a member of the first; no superuser.
      Later actions need membership in tarn_owner, and where they change an adopted table, in its
      owner; 'adopt' must be able to grant the owner's role.

      URL is a PostgreSQL address without a password, which libpq reads from ~/.pgpass.
      """,
    positionals: [
      PositionalSpec("ACTION", "what to do"),
      PositionalSpec("URL", "the database, such as postgresql://db.example/todo"),
      PositionalSpec("ARGUMENT", "see above", isOptional: true, repeats: true),
    ],
    options: [
      .value("unseen", "DAYS", "for forget: since when replicas were not seen"),
      .value(
        "rename", "CLASS.OLD=NEW", repeats: true,
        "for migrate: a property of the server that the store has under another name"),
      .value(
        "free", "CLASS.NAME", repeats: true,
        "for migrate: a former name that a new property may have"),
    ])
}
