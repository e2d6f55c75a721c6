#define _GNU_SOURCE  // memmem
#include "floors_lmdb.h"
#include "floors_support.h"
#include "floors_packages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The floor of W5: persons in clusters of 128, column by column, each as wide as its type.

enum { ROWS = 128 };

// One value of the tree; it fits a page.
struct cluster {
  int64_t rows;
  int64_t age[ROWS];
  double score[ROWS];
  char name[ROWS][BF_NAME_BYTES];
};

// Writes the persons `first`..., at most a cluster of them, under the cluster's number.
static int put_cluster(MDB_txn *txn, MDB_dbi tree, int64_t first, int64_t count) {
  struct cluster cluster = {0};
  for (; cluster.rows < ROWS && first + cluster.rows <= count; cluster.rows++) {
    struct bf_person person;
    bf_person_make(first + cluster.rows, &person);
    cluster.age[cluster.rows] = person.age;
    cluster.score[cluster.rows] = person.score;
    memcpy(cluster.name[cluster.rows], person.name, BF_NAME_BYTES);
  }
  uint64_t number = __builtin_bswap64((uint64_t)first);
  MDB_val key = {sizeof number, &number}, value = {sizeof cluster, &cluster};
  return mdb_put(txn, tree, &key, &value, 0);
}

// The number of persons with an age, and the sum of their scores.
static struct group {
  int64_t count;
  double score;
} groups[100];

// How many rows of a cluster match.
static int64_t count_matches(const struct cluster *cluster, int query, const char *text) {
  int64_t matches = 0;
  for (int64_t row = 0; row < cluster->rows; row++) {
    switch (query) {
      case BF_AGE_IS_42: matches += cluster->age[row] == 42; break;
      case BF_NAME_IS: matches += !memcmp(cluster->name[row], text, BF_NAME_BYTES); break;
      case BF_NAME_CONTAINS:
        matches += memmem(cluster->name[row], BF_NAME_BYTES, text, strlen(text)) != NULL;
        break;
      case BF_SUM_BY_AGE: {
        struct group *group = &groups[cluster->age[row]];
        group->count++;
        group->score += cluster->score[row];
        matches++;
        break;
      }
      default: matches += cluster->age[row] > 30 && cluster->score[row] < 0.5;
    }
  }
  return matches;
}

// Reads every cluster in a separate read transaction.
static int scan(MDB_env *env, MDB_dbi tree, int query, const char *text, int64_t *matches) {
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  MDB_val key, value;
  *matches = 0;
  int error = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  error = mdb_cursor_open(txn, tree, &cursor);
  while (!error && !(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    *matches += count_matches(value.mv_data, query, text);
  }
  if (cursor) mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return error == MDB_NOTFOUND ? 0 : error;
}

// Creates the tree of clusters with the persons 1...count.
static int fill(MDB_env *env, int64_t count, MDB_dbi *tree) {
  MDB_txn *txn = NULL;
  int error = mdb_txn_begin(env, NULL, 0, &txn);
  if (error) return error;
  error = mdb_dbi_open(txn, "clusters", MDB_CREATE, tree);
  for (int64_t first = 1; !error && first <= count; first += ROWS) {
    error = put_cluster(txn, *tree, first, count);
  }
  if (!error) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return error;
}

int bf_lmdb_scan(
    const char *folder, int64_t count, int query, const char *text, int64_t *matches,
    double *seconds) {
  char data[BF_PATH_BYTES], lock[BF_PATH_BYTES];
  int error = bf_path(folder, "clusters.mdb", data);
  if (!error) error = bf_path(folder, "clusters.mdb-lock", lock);
  if (error) return error;
  MDB_env *env = NULL;
  MDB_dbi tree = 0;
  error = bf_lmdb_open_env(data, MDB_NOSYNC, &env);
  if (error) return error;
  error = fill(env, count, &tree);
  if (!error) error = scan(env, tree, query, text, matches);  // warm
  double best = 0;
  for (int round = 0; !error && round < 5; round++) {
    double start = bf_now();
    error = scan(env, tree, query, text, matches);
    double took = bf_now() - start;
    if (round == 0 || took < best) best = took;
  }
  *seconds = best;
  mdb_env_close(env);
  unlink(data);
  unlink(lock);
  return error;
}
