import Foundation

/// A private PostgreSQL server for tests and measurements: in a temporary folder, on a Unix socket.
/// It ends with the process that started it, even if that is killed.
package final class PostgresServer: Sendable {
  /// The server of this process, started by the first test that needs it. It does not wait for the
  /// disk.
  package static let shared = Result { try PostgresServer("-c fsync=off") }

  private let program: HeldProgram
  /// The folder with the socket.
  package var folder: String { program.line }

  package static let administrator = "tester"

  /// The server refuses to run as root.
  private static let script = """
    set -e
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    folder=$(mktemp -d /tmp/tarn-test-postgres-XXXXXX)
    trap 'rm -rf "$folder"' EXIT
    data=${3:-"$folder/data"}
    if [ -z "$2" ]; then
      "$bin/initdb" -D "$data" -X "$folder/wal" -A trust -U \(administrator) -E UTF8 --locale=C \\
        --no-sync
    else
      "$bin/pg_basebackup" -h "$2" -U \(administrator) -D "$data" $4 -X stream \\
        --checkpoint=fast --no-sync
    fi >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; exit 1; }
    "$bin/postgres" -D "$data" -k "$folder" -c listen_addresses= $1 \\
      -c max_connections=200 -c max_prepared_transactions=100 -c shared_buffers=32MB \\
      >"$folder/log" 2>&1 </dev/null &
    server=$!
    until "$bin/pg_isready" -q -h "$folder"; do kill -0 $server; sleep 0.05; done
    echo "$folder"
    cat >/dev/null
    kill -INT $server
    wait $server || true
    """

  /// - Parameters:
  ///   - options: of the server.
  ///   - primary: the server that it follows as a standby.
  package init(_ options: String, standbyOf primary: PostgresServer? = nil) throws {
    program = try HeldProgram(Self.script, [options, primary?.folder ?? "", "", "-R"])
  }

  /// A server with a copy of another one's files, like a snapshot of a disk or a machine: no file
  /// shows that it is a copy.
  package init(_ options: String, copyOf original: PostgresServer) throws {
    program = try HeldProgram(Self.script, [options, original.folder])
  }

  /// A server whose data, without the log of changes, are on a separate disk in memory. Needs root.
  /// Other programs do not see the disk, and it is removed with the server.
  ///
  /// - Parameter space: the size of the disk, as for `mount`: "80m".
  package init(onDiskOf space: String) throws {
    let mount = "mount -t tmpfs -o mode=777,size=\(space) tmpfs /mnt && exec \"$@\""
    program = try HeldProgram(
      Self.script, ["-c fsync=off", "", "/mnt/data"],
      within: ["unshare", "--mount", "sh", "-c", mount, "sh"])
  }

  /// - Parameter socket: the folder of the socket, if it is another one.
  package func address(
    _ database: String, as role: String = administrator, at socket: String? = nil
  ) -> String {
    // A machine that is busy with other tests may take long to answer.
    "postgresql://\(role)@/\(database)?host=\(socket ?? folder)&connect_timeout=120"
  }
}
