// Collections on SQLite: a list as rows by position, a set and a map as tables by their keys.
#include "floors_support.h"
#include "floors_packages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bf_sqlite_lists {
  sqlite3 *db;
  int64_t count;
  char path[BF_PATH_BYTES];
};

static int own(int code) {
  return code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW ? 0
                                                                        : BF_SQLITE_ERROR + code;
}

static int run(sqlite3 *db, const char *text) {
  return own(sqlite3_exec(db, text, NULL, NULL, NULL));
}

// Puts the elements 0, 3, 6 ... into all three tables.
static const char fill_text[] =
    "BEGIN;"
    "CREATE TABLE list (position INTEGER PRIMARY KEY, value INTEGER NOT NULL);"
    "CREATE TABLE number_set (value INTEGER PRIMARY KEY);"
    "CREATE TABLE map (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;";

static int fill(bf_sqlite_lists *lists) {
  static const char *const texts[] = {
      "INSERT INTO list VALUES (?1, ?2)", "INSERT INTO number_set SELECT value FROM list",
      "INSERT INTO map SELECT printf('key-%08d', position), value FROM list", "COMMIT"};
  sqlite3_stmt *statement = NULL;
  int error = run(lists->db, fill_text);
  if (!error) error = own(sqlite3_prepare_v2(lists->db, texts[0], -1, &statement, NULL));
  for (int64_t i = 0; !error && i < lists->count; i++) {
    sqlite3_bind_int64(statement, 1, i);
    sqlite3_bind_int64(statement, 2, i * 3);
    error = own(sqlite3_step(statement));
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  for (int i = 1; !error && i < 4; i++) error = run(lists->db, texts[i]);
  return error;
}

int bf_sqlite_lists_create(const char *folder, int64_t count, bf_sqlite_lists **result) {
  *result = NULL;
  bf_sqlite_lists *lists = calloc(1, sizeof *lists);
  if (!lists) return ENOMEM;
  lists->count = count;
  int error = bf_path(folder, "lists.sqlite", lists->path);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (!error) error = own(sqlite3_open_v2(lists->path, &lists->db, flags, NULL));
  if (!error) {
    error = run(
        lists->db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
  }
  if (!error) error = fill(lists);
  if (error) {
    bf_sqlite_lists_destroy(lists);
    return error;
  }
  *result = lists;
  return 0;
}

void bf_sqlite_lists_destroy(bf_sqlite_lists *lists) {
  if (!lists) return;
  sqlite3_close(lists->db);
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3 && lists->path[0]; i++) {
    char beside[BF_PATH_BYTES + 16];
    strcpy(beside, lists->path);
    strcat(beside, endings[i]);
    unlink(beside);
  }
  free(lists);
}

int bf_sqlite_lists_append(bf_sqlite_lists *lists, int64_t appends, double *seconds_each) {
  sqlite3_stmt *statement = NULL;
  int error = run(
      lists->db,
      "CREATE TABLE IF NOT EXISTS appended (position INTEGER PRIMARY KEY, value INTEGER);"
      "DELETE FROM appended");
  double start = bf_now();
  if (!error) error = run(lists->db, "BEGIN");
  if (!error) {
    error = own(sqlite3_prepare_v2(
        lists->db, "INSERT INTO appended VALUES (?1, ?1)", -1, &statement, NULL));
  }
  for (int64_t i = 0; !error && i < appends; i++) {
    sqlite3_bind_int64(statement, 1, i);
    error = own(sqlite3_step(statement));
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  if (!error) error = run(lists->db, "COMMIT");
  *seconds_each = (bf_now() - start) / (double)appends;
  return error;
}

int bf_sqlite_lists_walk(bf_sqlite_lists *lists, int64_t *sum, double *seconds_each) {
  sqlite3_stmt *statement = NULL;
  *sum = 0;
  double start = bf_now();
  int error = own(sqlite3_prepare_v2(
      lists->db, "SELECT value FROM list ORDER BY position", -1, &statement, NULL));
  while (!error) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW) {
      error = own(code);
      break;
    }
    *sum += sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  *seconds_each = (bf_now() - start) / (double)lists->count;
  return error;
}

// Looks up scattered numbers, as the LMDB floor does, in one read transaction.
static int look_up(
    bf_sqlite_lists *lists, int64_t lookups, int in_map, int64_t *found, double *each) {
  const char *text = in_map ? "SELECT value FROM map WHERE key = ?1"
                            : "SELECT 1 FROM number_set WHERE value = ?1";
  sqlite3_stmt *statement = NULL;
  *found = 0;
  int error = own(sqlite3_prepare_v2(lists->db, text, -1, &statement, NULL));
  if (!error) error = run(lists->db, "BEGIN");
  double start = bf_now();
  for (int64_t i = 0; !error && i < lookups; i++) {
    int64_t number = bf_scattered(i, in_map ? lists->count : lists->count * 3) - 1;
    char key[BF_MAP_KEY_BYTES];
    if (in_map) {
      bf_map_key(number, key);
      sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    } else {
      sqlite3_bind_int64(statement, 1, number);
    }
    int code = sqlite3_step(statement);
    *found += code == SQLITE_ROW;
    error = own(code);
    sqlite3_reset(statement);
  }
  *each = (bf_now() - start) / (double)lookups;
  sqlite3_finalize(statement);
  if (!error) error = run(lists->db, "COMMIT");
  return error;
}

int bf_sqlite_lists_contains(
    bf_sqlite_lists *lists, int64_t lookups, int64_t *found, double *seconds_each) {
  return look_up(lists, lookups, 0, found, seconds_each);
}

int bf_sqlite_lists_value(
    bf_sqlite_lists *lists, int64_t lookups, int64_t *found, double *seconds_each) {
  return look_up(lists, lookups, 1, found, seconds_each);
}
