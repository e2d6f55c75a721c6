// The LMDB store of the floors: creating, reading and changing it.
#include "floors_lmdb.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Opens an environment as a single file with a map that never needs to grow.
int bf_lmdb_open_env(const char *path, unsigned flags, MDB_env **result) {
  MDB_env *env = NULL;
  int error = mdb_env_create(&env);
  if (error) return error;
  error = mdb_env_set_maxdbs(env, 4);
  if (!error) error = mdb_env_set_mapsize(env, (size_t)64 << 30);
  if (!error) error = mdb_env_open(env, path, MDB_NOSUBDIR | flags, 0644);
  if (error) {
    mdb_env_close(env);
    return error;
  }
  *result = env;
  return 0;
}

// Opens the store's environment and both trees, and creates the trees if asked to.
static int open_trees(bf_lmdb *store, unsigned env_flags, unsigned tree_flags) {
  int error = bf_lmdb_open_env(store->data_path, env_flags, &store->env);
  if (error) return error;
  MDB_txn *txn = NULL;
  error = mdb_txn_begin(store->env, NULL, tree_flags & MDB_CREATE ? 0 : MDB_RDONLY, &txn);
  if (error) return error;
  unsigned flags = MDB_INTEGERKEY | tree_flags;
  error = mdb_dbi_open(txn, "rows", flags, &store->rows);
  if (!error) error = mdb_dbi_open(txn, "index", flags, &store->index);
  if (!error) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return error;
}

// Writes the persons 1...count into both trees: with mdb_put(), which descends from the root each
// time, or with two cursors that append.
static int fill(bf_lmdb *store, MDB_txn *txn, int64_t count, int append) {
  MDB_cursor *rows = NULL, *index = NULL;
  int error = mdb_cursor_open(txn, store->rows, &rows);
  if (!error) error = mdb_cursor_open(txn, store->index, &index);
  for (int64_t id = 1; !error && id <= count; id++) {
    struct bf_person person;
    unsigned char bytes[BF_ROW_BYTES_MAX];
    bf_person_make(id, &person);
    uint64_t number = (uint64_t)id - 1, key = (uint64_t)id;
    MDB_val number_value = {sizeof number, &number}, key_value = {sizeof key, &key};
    MDB_val row = {bf_row_pack(&person, bytes), bytes};
    if (append) {
      error = mdb_cursor_put(rows, &number_value, &row, MDB_APPEND);
      if (!error) error = mdb_cursor_put(index, &key_value, &number_value, MDB_APPEND);
    } else {
      error = mdb_put(txn, store->rows, &number_value, &row, 0);
      if (!error) error = mdb_put(txn, store->index, &key_value, &number_value, 0);
    }
  }
  if (rows) mdb_cursor_close(rows);
  if (index) mdb_cursor_close(index);
  return error;
}

int bf_lmdb_create(
    const char *folder, int64_t rows, int append, bf_lmdb **result, double *seconds) {
  *result = NULL;
  bf_lmdb *store = calloc(1, sizeof *store);
  if (!store) return ENOMEM;
  int error = bf_path(folder, "floor.mdb", store->data_path);
  if (!error) error = bf_path(folder, "floor.mdb-lock", store->lock_path);
  if (error) {
    free(store);
    return error;
  }
  unlink(store->data_path);
  unlink(store->lock_path);
  store->count = rows;
  error = open_trees(store, MDB_NOSYNC, MDB_CREATE);
  MDB_txn *txn = NULL;
  double start = bf_now();
  if (!error) error = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (!error) {
    error = fill(store, txn, rows, append);
    if (error) {
      mdb_txn_abort(txn);
    } else {
      error = mdb_txn_commit(txn);
    }
  }
  *seconds = bf_now() - start;
  if (error) {
    bf_lmdb_destroy(store);
    return error;
  }
  // So that the first durable commit does not sync the pages of this transaction.
  mdb_env_sync(store->env, 1);
  *result = store;
  return 0;
}

void bf_lmdb_destroy(bf_lmdb *store) {
  if (!store) return;
  if (store->env) mdb_env_close(store->env);
  unlink(store->data_path);
  unlink(store->lock_path);
  free(store);
}

int bf_lmdb_file_bytes(bf_lmdb *store, int64_t *bytes) {
  struct stat status;
  if (stat(store->data_path, &status)) return errno;
  *bytes = (int64_t)status.st_size;
  return 0;
}

// Finds a row by id: the index, then the row. Both values point into the map.
int bf_lmdb_row(bf_lmdb *store, MDB_txn *txn, int64_t id, MDB_val *number, MDB_val *row) {
  uint64_t key = (uint64_t)id;
  MDB_val key_value = {sizeof key, &key};
  int error = mdb_get(txn, store->index, &key_value, number);
  if (error) return error;
  error = mdb_get(txn, store->rows, number, row);
  if (!error && row->mv_size < BF_ROW_NAME) return MDB_CORRUPTED;
  return error;
}

int bf_lmdb_person(bf_lmdb *store, int64_t id, struct bf_person *person) {
  MDB_txn *txn = NULL;
  MDB_val number, row;
  int error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  error = bf_lmdb_row(store, txn, id, &number, &row);
  if (!error) error = bf_row_unpack(row.mv_data, row.mv_size, person);
  mdb_txn_abort(txn);
  return error;
}

int bf_lmdb_count(bf_lmdb *store, int64_t *rows) {
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  MDB_val key, row;
  *rows = 0;
  int error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  error = mdb_cursor_open(txn, store->rows, &cursor);
  while (!error) {
    error = mdb_cursor_get(cursor, &key, &row, MDB_NEXT);
    if (!error) *rows += 1;
  }
  if (cursor) mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return error == MDB_NOTFOUND ? 0 : error;
}

// Adds to one person's age by rewriting the row, as a row layout must.
int bf_lmdb_set_age(bf_lmdb *store, MDB_txn *txn, int64_t id, int64_t add) {
  MDB_val number, row;
  unsigned char copy[BF_ROW_BYTES_MAX];
  int error = bf_lmdb_row(store, txn, id, &number, &row);
  if (error) return error;
  if (row.mv_size > sizeof copy) return MDB_CORRUPTED;
  // The number also points into a page that the put may move.
  uint64_t key = 0;
  memcpy(&key, number.mv_data, sizeof key);
  memcpy(copy, row.mv_data, row.mv_size);
  int64_t age;
  memcpy(&age, copy + BF_ROW_AGE, sizeof age);
  age = (age + add) % 100;
  memcpy(copy + BF_ROW_AGE, &age, sizeof age);
  MDB_val key_value = {sizeof key, &key}, changed = {row.mv_size, copy};
  return mdb_put(txn, store->rows, &key_value, &changed, 0);
}

// One transaction of that many scattered updates, from begin to commit.
static int update(bf_lmdb *store, int64_t updates) {
  MDB_txn *txn = NULL;
  int error = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (error) return error;
  for (int64_t i = 0; !error && i < updates; i++) {
    error = bf_lmdb_set_age(store, txn, bf_scattered(store->next_update++, store->count), 1);
  }
  if (!error) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return error;
}

int bf_lmdb_commits(bf_lmdb *store, int64_t commits, bf_sync sync, double *seconds) {
  int error = mdb_env_set_flags(store->env, MDB_NOSYNC, sync == bf_no_sync);
  if (!error) error = mdb_env_set_flags(store->env, MDB_NOMETASYNC, sync == bf_one_sync);
  double start = bf_now();
  for (int64_t i = 0; !error && i < commits; i++) error = update(store, 1);
  *seconds = bf_now() - start;
  return error;
}

int bf_lmdb_age(bf_lmdb *store, int64_t rounds, int64_t updates, int64_t commits) {
  int error = mdb_env_set_flags(store->env, MDB_NOSYNC, 1);
  for (int64_t i = 0; !error && i < rounds; i++) error = update(store, updates);
  for (int64_t i = 0; !error && i < commits; i++) error = update(store, 1);
  return error;
}

int bf_lmdb_bulk_update(bf_lmdb *store, int64_t updates, double *seconds) {
  int error = mdb_env_set_flags(store->env, MDB_NOSYNC, 1);
  double start = bf_now();
  if (!error) error = update(store, updates);
  *seconds = bf_now() - start;
  return error;
}

int bf_lmdb_reopen(bf_lmdb *store, double *seconds) {
  mdb_env_close(store->env);
  store->env = NULL;
  struct bf_person person;
  double start = bf_now();
  int error = open_trees(store, MDB_NOSYNC, 0);
  if (!error) error = bf_lmdb_person(store, store->count, &person);
  *seconds = bf_now() - start;
  return error;
}
