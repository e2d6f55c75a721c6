// The LMDB floors of collections: numbers in chunks, as in a list, and rows by key, as in sets and
// maps.
#include "floors_lmdb.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Two chunks fit into a page of LMDB. A full chunk is split in halves.
enum { CHUNK_MAX = 240, BLOCK = 64 };
static const uint64_t LABELS_APART = 1ull << 44;

// The chunks' positions in memory, which a program that inserts by position keeps.
struct chunk {
  uint64_t label;
  int64_t count;
};

struct bf_lists {
  MDB_env *env;
  MDB_dbi chunks;
  MDB_dbi set;
  MDB_dbi map;
  int64_t count;
  struct chunk *list;
  size_t list_count;
  size_t list_room;
  // How many elements each row of BLOCK chunks has.
  int64_t *blocks;
  char data_path[BF_PATH_BYTES];
  char lock_path[BF_PATH_BYTES];
};

// The key of number `number` in the map; equally long in every engine.
void bf_map_key(int64_t number, char key[BF_MAP_KEY_BYTES]) {
  snprintf(key, BF_MAP_KEY_BYTES, "key-%08lld", (long long)(number % 100000000));
}

static void count_blocks(bf_lists *lists) {
  memset(lists->blocks, 0, (lists->list_room / BLOCK + 1) * sizeof *lists->blocks);
  for (size_t i = 0; i < lists->list_count; i++) {
    lists->blocks[i / BLOCK] += lists->list[i].count;
  }
}

static int put_chunk(
    bf_lists *lists, MDB_txn *txn, uint64_t label, int64_t *numbers, int64_t count) {
  MDB_val key = {sizeof label, &label}, value = {(size_t)count * 8, numbers};
  return mdb_put(txn, lists->chunks, &key, &value, 0);
}

// Fills the list with 0, 3, 6 ..., in almost full chunks.
static int fill_list(bf_lists *lists, MDB_txn *txn) {
  const int64_t most = CHUNK_MAX * 3 / 4;
  int64_t numbers[CHUNK_MAX];
  int error = 0;
  for (int64_t start = 0; !error && start < lists->count; start += most) {
    int64_t count = lists->count - start < most ? lists->count - start : most;
    for (int64_t i = 0; i < count; i++) numbers[i] = (start + i) * 3;
    struct chunk *chunk = &lists->list[lists->list_count++];
    chunk->label = (uint64_t)lists->list_count * LABELS_APART;
    chunk->count = count;
    error = put_chunk(lists, txn, chunk->label, numbers, count);
  }
  count_blocks(lists);
  return error;
}

static int fill_rows(bf_lists *lists, MDB_txn *txn) {
  int error = 0;
  for (int64_t i = 0; !error && i < lists->count; i++) {
    int64_t number = i * 3;
    char text[BF_MAP_KEY_BYTES];
    bf_map_key(i, text);
    MDB_val nothing = {0, text}, number_value = {sizeof number, &number};
    MDB_val text_value = {strlen(text), text};
    error = mdb_put(txn, lists->set, &number_value, &nothing, 0);
    if (!error) error = mdb_put(txn, lists->map, &text_value, &number_value, 0);
  }
  return error;
}

static int fill(bf_lists *lists) {
  MDB_txn *txn = NULL;
  int error = mdb_txn_begin(lists->env, NULL, 0, &txn);
  if (error) return error;
  error = mdb_dbi_open(txn, "chunks", MDB_INTEGERKEY | MDB_CREATE, &lists->chunks);
  if (!error) error = mdb_dbi_open(txn, "set", MDB_INTEGERKEY | MDB_CREATE, &lists->set);
  if (!error) error = mdb_dbi_open(txn, "map", MDB_CREATE, &lists->map);
  if (!error) error = fill_list(lists, txn);
  if (!error) error = fill_rows(lists, txn);
  if (!error) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return error;
}

int bf_lists_create(const char *folder, int64_t count, bf_lists **result) {
  *result = NULL;
  bf_lists *lists = calloc(1, sizeof *lists);
  if (!lists) return ENOMEM;
  int error = bf_path(folder, "lists.mdb", lists->data_path);
  if (!error) error = bf_path(folder, "lists.mdb-lock", lists->lock_path);
  if (error) {
    free(lists);
    return error;
  }
  lists->count = count;
  // Room for the chunks that inserts add.
  lists->list_room = (size_t)count / 16 + 4096;
  lists->list = calloc(lists->list_room, sizeof *lists->list);
  lists->blocks = calloc(lists->list_room / BLOCK + 1, sizeof *lists->blocks);
  if (!lists->list || !lists->blocks) error = ENOMEM;
  if (!error) error = bf_lmdb_open_env(lists->data_path, MDB_NOSYNC, &lists->env);
  if (!error) error = fill(lists);
  if (error) {
    bf_lists_destroy(lists);
    return error;
  }
  *result = lists;
  return 0;
}

void bf_lists_destroy(bf_lists *lists) {
  if (!lists) return;
  if (lists->env) mdb_env_close(lists->env);
  unlink(lists->data_path);
  unlink(lists->lock_path);
  free(lists->list);
  free(lists->blocks);
  free(lists);
}

// Splits a full chunk in halves; the second follows it.
static int cut(bf_lists *lists, MDB_txn *txn, size_t index, int64_t *numbers) {
  struct chunk *chunk = &lists->list[index];
  uint64_t next = index + 1 < lists->list_count ? chunk[1].label : chunk->label + LABELS_APART;
  uint64_t label = chunk->label + (next - chunk->label) / 2;
  if (label == chunk->label || lists->list_count == lists->list_room) return ENOSPC;
  int64_t half = chunk->count / 2;
  int error = put_chunk(lists, txn, chunk->label, numbers, half);
  if (!error) error = put_chunk(lists, txn, label, numbers + half, chunk->count - half);
  memmove(chunk + 2, chunk + 1, (lists->list_count - index - 1) * sizeof *chunk);
  chunk[1].label = label;
  chunk[1].count = chunk->count - half;
  chunk->count = half;
  lists->list_count++;
  count_blocks(lists);
  return error;
}

// Inserts a number in front of the one at a position.
static int insert(bf_lists *lists, MDB_txn *txn, int64_t position, int64_t number) {
  size_t block = 0;
  while (position > lists->blocks[block]) position -= lists->blocks[block++];
  size_t index = block * BLOCK;
  while (position > lists->list[index].count) position -= lists->list[index++].count;
  struct chunk *chunk = &lists->list[index];
  int64_t numbers[CHUNK_MAX];
  MDB_val key = {sizeof chunk->label, &chunk->label}, value;
  int error = mdb_get(txn, lists->chunks, &key, &value);
  if (error) return error;
  memcpy(numbers, value.mv_data, (size_t)position * 8);
  numbers[position] = number;
  memcpy(
      numbers + position + 1, (char *)value.mv_data + position * 8,
      (size_t)(chunk->count - position) * 8);
  chunk->count++;
  lists->blocks[block]++;
  lists->count++;
  if (chunk->count == CHUNK_MAX) return cut(lists, txn, index, numbers);
  return put_chunk(lists, txn, chunk->label, numbers, chunk->count);
}

int bf_lists_insert(bf_lists *lists, int64_t inserts, int scattered, double *seconds_each) {
  MDB_txn *txn = NULL;
  double start = bf_now();
  int error = mdb_txn_begin(lists->env, NULL, 0, &txn);
  if (error) return error;
  for (int64_t i = 0; !error && i < inserts; i++) {
    int64_t position = scattered ? bf_scattered(i, lists->count) - 1 : lists->count / 2;
    error = insert(lists, txn, position, -i);
  }
  if (error) {
    mdb_txn_abort(txn);
  } else {
    error = mdb_txn_commit(txn);
  }
  *seconds_each = (bf_now() - start) / (double)inserts;
  return error;
}

int bf_lists_commits(bf_lists *lists, int64_t commits, double *seconds_each) {
  double sum = 0;
  int error = 0;
  for (int64_t i = 0; !error && i < commits; i++) {
    double seconds = 0;
    error = bf_lists_insert(lists, 1, 0, &seconds);
    sum += seconds;
  }
  *seconds_each = sum / (double)commits;
  return error;
}

int bf_lists_append(bf_lists *lists, int64_t appends, double *seconds_each) {
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  MDB_dbi rows;
  double start = bf_now();
  int error = mdb_txn_begin(lists->env, NULL, 0, &txn);
  if (error) return error;
  error = mdb_dbi_open(txn, "rows", MDB_INTEGERKEY | MDB_CREATE, &rows);
  if (!error) error = mdb_drop(txn, rows, 0);
  if (!error) error = mdb_cursor_open(txn, rows, &cursor);
  for (uint64_t i = 0; !error && i < (uint64_t)appends; i++) {
    MDB_val key = {sizeof i, &i}, value = {sizeof i, &i};
    error = mdb_cursor_put(cursor, &key, &value, MDB_APPEND);
  }
  if (cursor) mdb_cursor_close(cursor);
  if (error) {
    mdb_txn_abort(txn);
  } else {
    error = mdb_txn_commit(txn);
  }
  *seconds_each = (bf_now() - start) / (double)appends;
  return error;
}

int bf_lists_walk(bf_lists *lists, int64_t *sum, double *seconds_each) {
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  MDB_val key, value;
  int64_t total = 0;
  double start = bf_now();
  int error = mdb_txn_begin(lists->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  error = mdb_cursor_open(txn, lists->chunks, &cursor);
  while (!error && !(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    for (size_t i = 0; i < value.mv_size / 8; i++) {
      int64_t number;
      memcpy(&number, (char *)value.mv_data + i * 8, 8);
      total += number;
      // One element at a time, as a program that reads each must.
      __asm__ volatile("" : "+r"(total));
    }
  }
  if (cursor) mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  *sum = total;
  *seconds_each = (bf_now() - start) / (double)lists->count;
  return error == MDB_NOTFOUND ? 0 : error;
}

// Looks up scattered numbers; the set contains every third.
static int look_up(
    bf_lists *lists, int64_t lookups, int64_t rows, int in_map, int64_t *found,
    double *seconds_each) {
  MDB_txn *txn = NULL;
  *found = 0;
  int error = mdb_txn_begin(lists->env, NULL, MDB_RDONLY, &txn);
  if (error) return error;
  double start = bf_now();
  for (int64_t i = 0; !error && i < lookups; i++) {
    int64_t number = bf_scattered(i, in_map ? rows : rows * 3) - 1;
    char text[BF_MAP_KEY_BYTES];
    MDB_val key = {sizeof number, &number}, value;
    if (in_map) {
      bf_map_key(number, text);
      key.mv_size = strlen(text);
      key.mv_data = text;
    }
    error = mdb_get(txn, in_map ? lists->map : lists->set, &key, &value);
    *found += !error;
    if (error == MDB_NOTFOUND) error = 0;
  }
  *seconds_each = (bf_now() - start) / (double)lookups;
  mdb_txn_abort(txn);
  return error;
}

int bf_lists_contains(
    bf_lists *lists, int64_t lookups, int64_t rows, int64_t *found, double *seconds_each) {
  return look_up(lists, lookups, rows, 0, found, seconds_each);
}

int bf_lists_value(
    bf_lists *lists, int64_t lookups, int64_t rows, int64_t *found, double *seconds_each) {
  return look_up(lists, lookups, rows, 1, found, seconds_each);
}
