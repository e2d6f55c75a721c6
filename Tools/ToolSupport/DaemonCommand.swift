/// The command line of `tarn daemon`, which the shell hands over to `tarn-daemon`.
package enum DaemonCommand {
  package static let name = "daemon"
  /// The program that runs it.
  package static let program = "tarn-daemon"
  package static let folder = "/etc/tarn/watch.d"
  package static let file = "/etc/tarn/watch.yaml"
  /// Where the package's unit listens.
  package static let socket = "/run/tarn/http.sock"

  package static let spec = CommandSpec(
    name, "Runs watches from a configuration and delivers changes to programs.",
    discussion: """
      'run', the default, runs the watches of a configuration file, or of all *.yaml and *.yml in a
      folder, until SIGTERM or SIGINT. SIGHUP reads the configuration again. 'check' says what is
      wrong in it, by file, line and key, looks at all that 'run' would open, and says which cursors
      it would resync in full or leave behind; it changes nothing. As root it checks as the user of
      the systemd unit, or as that of --user. With --unit it prints what a systemd unit needs for
      the configuration. 'reload' makes the running daemon read it again, and returns when the
      watches stand; if anything is wrong, the former configuration goes on. 'status' asks the
      running daemon. Both go through its HTTP door.

      'pause' and 'resume' stop and continue a sink, also over restarts. 'skip' drops the changes
      that a sink lacks now, 'resend' gives it all objects again, and 'try' sends it a test delivery
      and prints what the receiver says. They need the names of a watch and a sink.

      Messages go to the journal, or to standard error. tarn-daemon(5) describes the
      configuration, and --schema prints a JSON schema of it for editors.
      """,
    positionals: [
      PositionalSpec(
        "ACTION", "run, check, reload, status, pause, resume, skip, resend or try",
        isOptional: true),
      PositionalSpec("WATCH", "for the last five: the name of a watch", isOptional: true),
      PositionalSpec("SINK", "the name of a sink of the watch", isOptional: true),
    ],
    options: [
      .value(
        "config", short: "c", "PATH",
        "the file or folder (default: \(folder) if it exists, otherwise \(file))"),
      .value("file", "PATH", "for skip and resend: only this file of the watch (default: all)"),
      .value("user", "NAME", "for check: the user that the daemon will run as"),
      .flag("unit", "for check: print a drop-in for the unit's sandbox"),
      .flag("schema", "print a JSON schema of the configuration, for editors"),
      .flag("manual", "print the manual page of the configuration, tarn-daemon(5)"),
      .flag("json", "for status: print one JSON object"),
      .flag("prometheus", "for status: print metrics in Prometheus' text form"),
      .flag("verbose", short: "v", "for run: also log what is only of use for finding faults"),
    ])
}
