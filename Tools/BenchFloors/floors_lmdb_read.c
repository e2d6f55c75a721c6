// The LMDB floors that read: look-up, sort, query, a maintained sorted array.
#include "floors_lmdb.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int bf_lmdb_lookup(bf_lmdb *store, int64_t lookups, double *nanoseconds_each) {
  MDB_txn *txn = NULL;
  int error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  double start = bf_now();
  for (int64_t i = 0; !error && i < lookups; i++) {
    MDB_val number, row;
    error = bf_lmdb_row(store, txn, bf_scattered(i, store->count), &number, &row);
    if (error) break;
    int64_t age;
    double score;
    memcpy(&age, (const char *)row.mv_data + BF_ROW_AGE, sizeof age);
    memcpy(&score, (const char *)row.mv_data + BF_ROW_SCORE, sizeof score);
    __asm__ volatile("" : : "r"(&age), "r"(&score) : "memory");
  }
  *nanoseconds_each = (bf_now() - start) * 1e9 / (double)lookups;
  mdb_txn_abort(txn);
  return error;
}

// An age and an id, for the sort by age.
struct aged {
  int64_t age;
  int64_t id;
};

// Orders by age, then by id.
static int compare_aged(const void *left, const void *right) {
  const struct aged *a = left, *b = right;
  if (a->age != b->age) return a->age < b->age ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

// Calls `visit` with each row in the order of the tree.
static int walk(bf_lmdb *store, void *context, void (*visit)(void *, const char *)) {
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  MDB_val key, row;
  int error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  error = mdb_cursor_open(txn, store->rows, &cursor);
  while (!error) {
    error = mdb_cursor_get(cursor, &key, &row, MDB_NEXT);
    if (error) break;
    if (row.mv_size < BF_ROW_NAME + 1 + BF_NAME_BYTES) {
      error = MDB_CORRUPTED;
      break;
    }
    visit(context, row.mv_data);
  }
  if (cursor) mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return error == MDB_NOTFOUND ? 0 : error;
}

// A name as its bytes and an id: the element type of the plain sort by name.
struct plain {
  char name[BF_NAME_BYTES];
  int64_t id;
};

// Orders by the bytes of the name, then by id.
static int compare_plain(const void *left, const void *right) {
  const struct plain *a = left, *b = right;
  int order = memcmp(a->name, b->name, BF_NAME_BYTES);
  return order ? order : (a->id > b->id) - (a->id < b->id);
}

// Filled by the visits below; the caller allocates room for all rows.
struct collection {
  struct aged *aged;
  struct plain *plain;
  struct bf_named *named;
  int64_t count;
};

// Collects (age, id).
static void visit_aged(void *context, const char *row) {
  struct collection *all = context;
  struct aged *entry = &all->aged[all->count++];
  memcpy(&entry->age, row + BF_ROW_AGE, 8);
  memcpy(&entry->id, row, 8);
}

// Collects (name, id) with the name as bytes.
static void visit_plain(void *context, const char *row) {
  struct collection *all = context;
  struct plain *entry = &all->plain[all->count++];
  memcpy(entry->name, row + BF_ROW_NAME + 1, BF_NAME_BYTES);
  memcpy(&entry->id, row, 8);
}

// Collects (name, id), the name as numbers.
static void visit_named(void *context, const char *row) {
  struct collection *all = context;
  int64_t id;
  memcpy(&id, row, 8);
  all->named[all->count++] = bf_named_make(row + BF_ROW_NAME + 1, id);
}

// Collects (name, id) where the age is above 50.
static void visit_older(void *context, const char *row) {
  int64_t age;
  memcpy(&age, row + BF_ROW_AGE, 8);
  if (age > 50) visit_named(context, row);
}

int bf_lmdb_sort(bf_lmdb *store, int by_name, int64_t *first_id, double *seconds) {
  double start = bf_now();
  size_t capacity = (size_t)store->count + 1;
  struct collection all = {0};
  int error;
  *first_id = 0;
  if (by_name) {
    all.plain = malloc(capacity * sizeof *all.plain);
    error = all.plain ? walk(store, &all, visit_plain) : ENOMEM;
    if (!error) qsort(all.plain, (size_t)all.count, sizeof *all.plain, compare_plain);
    if (!error && all.count) *first_id = all.plain[0].id;
  } else {
    all.aged = malloc(capacity * sizeof *all.aged);
    error = all.aged ? walk(store, &all, visit_aged) : ENOMEM;
    if (!error) qsort(all.aged, (size_t)all.count, sizeof *all.aged, compare_aged);
    if (!error && all.count) *first_id = all.aged[0].id;
  }
  *seconds = bf_now() - start;
  free(all.plain);
  free(all.aged);
  return error;
}

// The query of W7 into a new array; the caller frees `all->named`.
static int query(bf_lmdb *store, struct collection *all) {
  memset(all, 0, sizeof *all);
  all->named = malloc(((size_t)store->count + 1) * sizeof *all->named);
  if (!all->named) return ENOMEM;
  int error = walk(store, all, visit_older);
  if (!error) qsort(all->named, (size_t)all->count, sizeof *all->named, bf_named_compare);
  return error;
}

int bf_lmdb_requery(bf_lmdb *store, int64_t *matches, double *seconds) {
  struct collection all;
  double start = bf_now();
  int error = query(store, &all);
  *seconds = bf_now() - start;
  *matches = all.count;
  free(all.named);
  return error;
}

// The number of entries before `entry`.
static int64_t position(const struct collection *all, const struct bf_named *entry) {
  int64_t low = 0, high = all->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (bf_named_compare(&all->named[middle], entry) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Renames the person at a position of the result, in the store and in the array.
static int rename_one(bf_lmdb *store, struct collection *all, int64_t index, uint64_t *state) {
  struct bf_named old = all->named[index];
  char name[BF_NAME_BYTES];
  for (int i = 0; i < BF_NAME_BYTES; i++) name[i] = (char)('a' + bf_random(state) % 26);
  MDB_txn *txn = NULL;
  MDB_val number, row;
  unsigned char copy[BF_ROW_BYTES_MAX];
  int error = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (error) return error;
  error = bf_lmdb_row(store, txn, old.id, &number, &row);
  if (!error && row.mv_size > sizeof copy) error = MDB_CORRUPTED;
  if (!error) {
    uint64_t key = 0;
    memcpy(&key, number.mv_data, sizeof key);
    memcpy(copy, row.mv_data, row.mv_size);
    memcpy(copy + BF_ROW_NAME + 1, name, BF_NAME_BYTES);
    MDB_val key_value = {sizeof key, &key}, changed = {row.mv_size, copy};
    error = mdb_put(txn, store->rows, &key_value, &changed, 0);
  }
  if (error) {
    mdb_txn_abort(txn);
    return error;
  }
  error = mdb_txn_commit(txn);
  if (error) return error;
  struct bf_named new = bf_named_make(name, old.id);
  int64_t from = position(all, &old), to = position(all, &new);
  struct bf_named *array = all->named;
  if (to > from) {
    to -= 1;
    memmove(array + from, array + from + 1, (size_t)(to - from) * sizeof *array);
  } else {
    memmove(array + to + 1, array + to, (size_t)(from - to) * sizeof *array);
  }
  array[to] = new;
  return 0;
}

int bf_lmdb_reinsert(
    bf_lmdb *store, int64_t changes, int *in_order, double *seconds_each) {
  struct collection all, fresh;
  *in_order = 0;
  *seconds_each = 0;
  int error = mdb_env_set_flags(store->env, MDB_NOSYNC, 1);
  if (error) return error;
  error = query(store, &all);
  if (!error && all.count == 0) error = MDB_NOTFOUND;
  uint64_t state = 7;
  double start = bf_now();
  for (int64_t i = 0; !error && i < changes; i++) {
    int64_t index = (int64_t)(bf_random(&state) % (uint64_t)all.count);
    error = rename_one(store, &all, index, &state);
  }
  *seconds_each = (bf_now() - start) / (double)changes;
  if (!error) {
    error = query(store, &fresh);
    *in_order = !error && fresh.count == all.count;
    for (int64_t i = 0; *in_order && i < all.count; i++) {
      *in_order = bf_named_compare(&all.named[i], &fresh.named[i]) == 0;
    }
    free(fresh.named);
  }
  free(all.named);
  return error;
}

static int sum_range(bf_lmdb *store, int64_t first, int64_t count, double *sum) {
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  uint64_t id = (uint64_t)first;
  MDB_val key = {sizeof id, &id}, number, row;
  int error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  error = mdb_cursor_open(txn, store->index, &cursor);
  for (int64_t i = 0; !error && i < count; i++) {
    error = mdb_cursor_get(cursor, &key, &number, i ? MDB_NEXT : MDB_SET_RANGE);
    if (!error) error = mdb_get(txn, store->rows, &number, &row);
    if (error) break;
    int64_t age;
    double score;
    memcpy(&age, (const char *)row.mv_data + BF_ROW_AGE, sizeof age);
    memcpy(&score, (const char *)row.mv_data + BF_ROW_SCORE, sizeof score);
    *sum += (double)age + score;
  }
  if (cursor) mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return error;
}

int bf_lmdb_ranges(
    bf_lmdb *store, const int64_t *firsts, int64_t ranges, int64_t count, double *sum,
    double *seconds) {
  int error = 0;
  *sum = 0;
  double start = bf_now();
  for (int64_t i = 0; !error && i < ranges; i++)
    error = sum_range(store, firsts[i], count, sum);
  *seconds = bf_now() - start;
  return error;
}

int bf_lmdb_first(bf_lmdb *store, int64_t times, int64_t *first_id, double *seconds) {
  int error = 0;
  double start = bf_now();
  for (int64_t i = 0; !error && i < times; i++) {
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    MDB_val key, number;
    error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (error) break;
    error = mdb_cursor_open(txn, store->index, &cursor);
    if (!error) error = mdb_cursor_get(cursor, &key, &number, MDB_FIRST);
    if (!error) memcpy(first_id, key.mv_data, sizeof *first_id);
    if (cursor) mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
  }
  *seconds = bf_now() - start;
  return error;
}
