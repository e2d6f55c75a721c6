#ifndef FLOORS_LMDB_H
#define FLOORS_LMDB_H
#include "floors_support.h"
#include "floors_packages.h"

// Two trees: rows by row number, and row numbers by id. A store keyed by id would need one look-up
// less; any engine whose keys are not its row numbers needs both.
struct bf_lmdb {
  MDB_env *env;
  MDB_dbi rows;
  MDB_dbi index;
  int64_t count;
  int64_t next_update;
  char data_path[BF_PATH_BYTES];
  char lock_path[BF_PATH_BYTES];
};

int bf_lmdb_row(bf_lmdb *store, MDB_txn *txn, int64_t id, MDB_val *number, MDB_val *row);
int bf_lmdb_open_env(const char *path, unsigned flags, MDB_env **env);
int bf_lmdb_set_age(bf_lmdb *store, MDB_txn *txn, int64_t id, int64_t add);

// The paths of the store and of the watched file of bf_lmdb_wake().
struct bf_wake_paths {
  char data_path[BF_PATH_BYTES];
  char lock_path[BF_PATH_BYTES];
  char signal_path[BF_PATH_BYTES];
};

struct bf_wake;
// Blocks in read() on inotify, then reads the value and gives it away: the number of the wake, when
// the commit began, and when this process ran.
int bf_lmdb_follow(
    struct bf_wake *wake, const struct bf_wake_paths *paths,
    int (*take)(void *, int64_t, double, double), void *context);
// Reads lines from a process that follows the store.
int bf_relay_lines(struct bf_wake *wake, const struct bf_wake_paths *paths);
#endif
