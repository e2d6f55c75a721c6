/// A pgbouncer before the server of the tests that gives a server connection for one transaction.
package final class PostgresPooler: Sendable {
  private let program: HeldProgram

  /// With two server connections for a login and database.
  private static let script = """
    set -e
    folder=$(mktemp -d /tmp/tarn-test-pooler-XXXXXX)
    trap 'rm -rf "$folder"' EXIT
    echo '"\(PostgresServer.administrator)" ""' >"$folder/users"
    cat >"$folder/pgbouncer.ini" <<END
    [databases]
    * = host=$1
    [pgbouncer]
    listen_addr =
    unix_socket_dir = $folder
    listen_port = 5432
    auth_type = trust
    auth_file = $folder/users
    auth_user = \(PostgresServer.administrator)
    pool_mode = transaction
    default_pool_size = 2
    logfile = $folder/log
    pidfile = $folder/pid
    END
    /usr/sbin/pgbouncer -q "$folder/pgbouncer.ini" </dev/null >"$folder/output" 2>&1 &
    pooler=$!
    until test -S "$folder/.s.PGSQL.5432"; do
      kill -0 $pooler || { cat "$folder/output" "$folder/log" >&2; exit 1; }
      sleep 0.05
    done
    echo "$folder"
    cat >/dev/null
    kill -INT $pooler
    wait $pooler || true
    """

  package init(_ server: PostgresServer) throws {
    program = try HeldProgram(Self.script, [server.folder])
  }

  package func address(_ database: String, as role: String) -> String {
    "postgresql://\(role)@/\(database)?host=\(program.line)&connect_timeout=120"
  }
}
