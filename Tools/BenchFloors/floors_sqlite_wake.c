// The SQLite side of the latency between two processes. SQLite does not wake readers, so the
// watcher polls once a millisecond, as applications do.
#include "floors_support.h"
#include "floors_packages.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// A connection with the two statements of this measurement.
struct connection {
  sqlite3 *db;
  sqlite3_stmt *read;
  sqlite3_stmt *write;
};

// An SQLite result code as an error number of the floors.
static int own(int code) {
  return code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW ? 0
                                                                        : BF_SQLITE_ERROR + code;
}

// Opens the database; the first process creates it.
static int connect_to(const char *path, struct connection *connection) {
  static const char setup[] =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
      "CREATE TABLE IF NOT EXISTS value (id INTEGER PRIMARY KEY, began REAL);"
      "INSERT OR IGNORE INTO value VALUES (1, 0)";
  memset(connection, 0, sizeof *connection);
  int error = own(sqlite3_open(path, &connection->db));
  if (!error) error = own(sqlite3_busy_timeout(connection->db, 10000));
  if (!error) error = own(sqlite3_exec(connection->db, setup, NULL, NULL, NULL));
  if (!error) {
    error = own(sqlite3_prepare_v2(
        connection->db, "SELECT began FROM value WHERE id = 1", -1, &connection->read, NULL));
  }
  if (!error) {
    error = own(sqlite3_prepare_v2(
        connection->db, "UPDATE value SET began = ? WHERE id = 1", -1, &connection->write, NULL));
  }
  return error;
}

// Closes the statements and the connection.
static void disconnect(struct connection *connection) {
  sqlite3_finalize(connection->read);
  sqlite3_finalize(connection->write);
  sqlite3_close(connection->db);
}

// The watcher process: polls every millisecond for a new value.
static int watch(struct bf_wake *wake, void *context) {
  struct connection connection;
  int error = connect_to(context, &connection);
  double last = 0;
  atomic_store(&wake->ready, 1);
  for (int64_t i = 0; !error && i < wake->wakes;) {
    int code = sqlite3_step(connection.read);
    double began = code == SQLITE_ROW ? sqlite3_column_double(connection.read, 0) : last;
    sqlite3_reset(connection.read);
    error = own(code);
    if (began != last) {
      wake->times[i].began = began;
      wake->times[i++].read = bf_now();
      last = began;
      atomic_store(&wake->seen, i);
    }
    bf_pause(1e-3);
  }
  disconnect(&connection);
  return error;
}

// The writer. Its pauses differ in length, so that commits do not fall into the watcher's rhythm.
static int write_all(struct bf_wake *wake, void *context) {
  struct connection connection;
  int error = connect_to(context, &connection);
  uint64_t state = 1;
  for (int64_t i = 0; !error && i < wake->wakes; i++) {
    bf_pause(1e-3 * (double)(bf_random(&state) % 1000) / 1000);
    sqlite3_bind_double(connection.write, 1, bf_now());
    error = own(sqlite3_step(connection.write));
    sqlite3_reset(connection.write);
    if (!error) error = bf_wake_await(wake, &wake->seen, i + 1);
  }
  disconnect(&connection);
  return error;
}

int bf_sqlite_wake(const char *folder, int64_t wakes, int watcher, struct bf_latency *latency) {
  static const char *const names[] = {"wake.sqlite", "wake.sqlite-wal", "wake.sqlite-shm"};
  char path[BF_PATH_BYTES];
  int error = bf_path(folder, names[0], path);
  if (error) return error;
  struct bf_wake *wake = bf_wake_share(wakes);
  if (wake) {
    error = bf_wake_run(wake, watcher, path, watch, write_all);
    if (!error) error = bf_wake_summary(wake, latency);
    bf_wake_unshare(wake);
  } else {
    error = errno;
  }
  for (int i = 0; i < 3; i++) {
    char beside[BF_PATH_BYTES];
    if (!bf_path(folder, names[i], beside)) unlink(beside);
  }
  return error;
}
