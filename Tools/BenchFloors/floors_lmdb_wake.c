// The LMDB side of the latency between two processes: one pwrite wakes a read on inotify.
#include "floors_lmdb.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

// The key of the only value: the time at which its commit began.
static char value_name[] = "time";

// Reads the value in a new transaction.
static int read_value(MDB_env *env, double *value) {
  MDB_txn *txn = NULL;
  MDB_dbi tree;
  int error = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  MDB_val key = {sizeof value_name, value_name}, data;
  error = mdb_dbi_open(txn, NULL, 0, &tree);
  if (!error) error = mdb_get(txn, tree, &key, &data);
  if (!error && data.mv_size != sizeof *value) error = MDB_CORRUPTED;
  if (!error) memcpy(value, data.mv_data, sizeof *value);
  mdb_txn_abort(txn);
  return error;
}

// Writes the time into the tree, commits, wakes.
static int write_value(MDB_env *env, int signal_file, uint64_t number) {
  MDB_txn *txn = NULL;
  MDB_dbi tree;
  int error = mdb_txn_begin(env, NULL, 0, &txn);
  if (error) return error;
  error = mdb_dbi_open(txn, NULL, 0, &tree);
  double now = bf_now();
  MDB_val key = {sizeof value_name, value_name}, data = {sizeof now, &now};
  if (!error) error = mdb_put(txn, tree, &key, &data, 0);
  if (error) {
    mdb_txn_abort(txn);
    return error;
  }
  error = mdb_txn_commit(txn);
  if (error) return error;
  return pwrite(signal_file, &number, sizeof number, 0) == sizeof number ? 0 : errno;
}

int bf_lmdb_follow(
    struct bf_wake *wake, const struct bf_wake_paths *paths,
    int (*take)(void *, int64_t, double, double), void *context) {
  MDB_env *env = NULL;
  int error = bf_lmdb_open_env(paths->data_path, MDB_NOSYNC, &env);
  if (error) return error;
  int inotify = inotify_init1(IN_CLOEXEC);
  if (inotify < 0 || inotify_add_watch(inotify, paths->signal_path, IN_MODIFY) < 0) {
    error = errno;
  }
  atomic_store(&wake->ready, 1);
  for (int64_t i = 0; !error && i < wake->wakes; i++) {
    char events[sizeof(struct inotify_event) + NAME_MAX + 1];
    if (read(inotify, events, sizeof events) < 0) {
      error = errno;
      break;
    }
    double woken = bf_now(), began = 0;
    error = read_value(env, &began);
    if (!error) error = take(context, i, began, woken);
  }
  if (inotify >= 0) close(inotify);
  mdb_env_close(env);
  return error;
}

// The reader has the value of a commit.
static int note(void *context, int64_t index, double began, double woken) {
  struct bf_wake *wake = context;
  struct bf_wake_times *times = &wake->times[index];
  times->began = began;
  times->woken = woken;
  times->read = bf_now();
  atomic_store(&wake->seen, index + 1);
  return 0;
}

// The watcher process.
static int watch(struct bf_wake *wake, void *context) {
  return bf_lmdb_follow(wake, context, note, wake);
}

static int watch_lines(struct bf_wake *wake, void *context) {
  return bf_relay_lines(wake, context);
}

// The writer: one commit at a time, after the watcher has had time to block again.
static int write_all(struct bf_wake *wake, void *context) {
  const struct bf_wake_paths *paths = context;
  MDB_env *env = NULL;
  int error = bf_lmdb_open_env(paths->data_path, MDB_NOSYNC, &env);
  if (error) return error;
  int signal_file = open(paths->signal_path, O_RDWR | O_CLOEXEC);
  if (signal_file < 0) error = errno;
  for (int64_t i = 0; !error && i < wake->wakes; i++) {
    bf_pause(500e-6);
    error = write_value(env, signal_file, (uint64_t)i + 1);
    wake->times[i].sent = bf_now();
    if (!error) error = bf_wake_await(wake, &wake->seen, i + 1);
  }
  if (signal_file >= 0) close(signal_file);
  mdb_env_close(env);
  return error;
}

// Creates the watched file.
static int make_signal_file(const char *path) {
  int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int error = ftruncate(file, 8) ? errno : 0;
  close(file);
  return error;
}

static int run(
    const char *folder, int64_t wakes, int watcher, int (*watch)(struct bf_wake *, void *),
    struct bf_latency *latency) {
  struct bf_wake_paths paths;
  int error = bf_path(folder, "wake.mdb", paths.data_path);
  if (!error) error = bf_path(folder, "wake.mdb-lock", paths.lock_path);
  if (!error) error = bf_path(folder, "wake.signal", paths.signal_path);
  if (!error) error = make_signal_file(paths.signal_path);
  if (error) return error;
  struct bf_wake *wake = bf_wake_share(wakes);
  if (wake) {
    error = bf_wake_run(wake, watcher, &paths, watch, write_all);
    if (!error) error = bf_wake_summary(wake, latency);
    bf_wake_unshare(wake);
  } else {
    error = errno;
  }
  unlink(paths.data_path);
  unlink(paths.lock_path);
  unlink(paths.signal_path);
  return error;
}

int bf_lmdb_wake(const char *folder, int64_t wakes, int watcher, struct bf_latency *latency) {
  return run(folder, wakes, watcher, watch, latency);
}

int bf_lmdb_relay(const char *folder, int64_t wakes, struct bf_latency *latency) {
  return run(folder, wakes, -1, watch_lines, latency);
}
