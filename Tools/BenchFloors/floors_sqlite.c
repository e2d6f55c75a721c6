// The same jobs on SQLite, as a careful user would write them: one table with an integer primary
// key, statements prepared once, WAL, a page cache that holds all data.
#include "floors_support.h"
#include "floors_packages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The prepared statements, in the order of their texts below.
enum statement { BEGIN, COMMIT, ROLLBACK, INSERT, UPDATE, LOOKUP, STATEMENTS };

static const char *const statement_texts[STATEMENTS] = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?)",
    "UPDATE person SET age = (age + 1) % 100 WHERE id = ?",
    "SELECT age, score FROM person WHERE id = ?",
};

static const char schema_text[] =
    "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL,"
    " score REAL NOT NULL, dob INTEGER NOT NULL, is_active INTEGER NOT NULL,"
    " city TEXT NOT NULL)";

struct bf_sqlite {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENTS];
  int64_t count;
  int64_t next_update;
  char path[BF_PATH_BYTES];
};

// An SQLite result code as an error number of the floors.
static int own(int code) {
  return code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW ? 0
                                                                        : BF_SQLITE_ERROR + code;
}

// Runs statements whose rows are not read.
static int run(sqlite3 *db, const char *text) {
  return own(sqlite3_exec(db, text, NULL, NULL, NULL));
}

// Opens a database with the settings of all the workloads here.
static int open_database(const char *path, sqlite3 **db) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int error = own(sqlite3_open_v2(path, db, flags, NULL));
  if (!error) error = own(sqlite3_busy_timeout(*db, 10000));
  if (!error) error = run(*db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  if (!error) error = run(*db, "PRAGMA cache_size = -262144");
  return error;
}

// Prepares every statement of the list.
static int prepare(bf_sqlite *store) {
  int error = 0;
  for (int i = 0; !error && i < STATEMENTS; i++) {
    error = own(sqlite3_prepare_v3(
        store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i],
        NULL));
  }
  return error;
}

// Finalizes the statements and closes the database.
static void close_database(bf_sqlite *store) {
  for (int i = 0; i < STATEMENTS; i++) {
    sqlite3_finalize(store->statements[i]);
    store->statements[i] = NULL;
  }
  sqlite3_close(store->db);
  store->db = NULL;
}

// Removes the database and its WAL files.
static void remove_files(const char *path) {
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (int i = 0; i < 4; i++) {
    char beside[BF_PATH_BYTES + 16];
    strcpy(beside, path);
    strcat(beside, endings[i]);
    unlink(beside);
  }
}

// Steps a prepared statement that returns no rows, and resets it.
static int step(bf_sqlite *store, enum statement number) {
  sqlite3_stmt *statement = store->statements[number];
  int error = own(sqlite3_step(statement));
  sqlite3_reset(statement);
  return error;
}

// Inserts one person.
static int insert(bf_sqlite *store, int64_t id) {
  struct bf_person person;
  bf_person_make(id, &person);
  sqlite3_stmt *statement = store->statements[INSERT];
  sqlite3_bind_int64(statement, 1, person.id);
  sqlite3_bind_text(statement, 2, person.name, BF_NAME_BYTES, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 3, person.age);
  sqlite3_bind_double(statement, 4, person.score);
  sqlite3_bind_int64(statement, 5, person.dob);
  sqlite3_bind_int64(statement, 6, person.is_active);
  sqlite3_bind_text(statement, 7, person.city, -1, SQLITE_STATIC);
  return step(store, INSERT);
}

int bf_sqlite_create(const char *folder, int64_t rows, bf_sqlite **result, double *seconds) {
  *result = NULL;
  bf_sqlite *store = calloc(1, sizeof *store);
  if (!store) return ENOMEM;
  int error = bf_path(folder, "floor.sqlite", store->path);
  if (error) {
    free(store);
    return error;
  }
  remove_files(store->path);
  store->count = rows;
  error = open_database(store->path, &store->db);
  if (!error) error = run(store->db, schema_text);
  if (!error) error = prepare(store);
  double start = bf_now();
  if (!error) error = step(store, BEGIN);
  for (int64_t id = 1; !error && id <= rows; id++) error = insert(store, id);
  if (!error) error = step(store, COMMIT);
  *seconds = bf_now() - start;
  // So that later workloads do not pay for the log of this transaction.
  if (!error) error = run(store->db, "PRAGMA wal_checkpoint(TRUNCATE)");
  if (error) {
    bf_sqlite_destroy(store);
    return error;
  }
  *result = store;
  return 0;
}

void bf_sqlite_destroy(bf_sqlite *store) {
  if (!store) return;
  close_database(store);
  remove_files(store->path);
  free(store);
}

int bf_sqlite_file_bytes(bf_sqlite *store, int64_t *bytes) {
  struct stat status;
  if (stat(store->path, &status)) return errno;
  *bytes = (int64_t)status.st_size;
  return 0;
}

// Runs a query and calls `visit` with each row; stops without error where `visit` returns 0.
static int each(
    bf_sqlite *store, const char *text, void *context, int (*visit)(void *, sqlite3_stmt *)) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(store->db, text, -1, &statement, NULL);
  if (code == SQLITE_OK) {
    do {
      code = sqlite3_step(statement);
    } while (code == SQLITE_ROW && visit(context, statement));
  }
  sqlite3_finalize(statement);
  return own(code);
}

// Reads one integer of the first row.
static int take_integer(void *context, sqlite3_stmt *statement) {
  *(int64_t *)context = sqlite3_column_int64(statement, 0);
  return 0;
}

int bf_sqlite_count(bf_sqlite *store, int64_t *rows) {
  *rows = 0;
  return each(store, "SELECT count(*) FROM person", rows, take_integer);
}

// Reads all columns of the first row.
static int take_person(void *context, sqlite3_stmt *statement) {
  struct bf_person *person = context;
  const char *name = (const char *)sqlite3_column_text(statement, 1);
  const char *city = (const char *)sqlite3_column_text(statement, 6);
  person->id = sqlite3_column_int64(statement, 0);
  if (name) strncpy(person->name, name, sizeof person->name - 1);
  person->age = sqlite3_column_int64(statement, 2);
  person->score = sqlite3_column_double(statement, 3);
  person->dob = sqlite3_column_int64(statement, 4);
  person->is_active = (uint8_t)sqlite3_column_int(statement, 5);
  if (city) strncpy(person->city, city, sizeof person->city - 1);
  return 0;
}

int bf_sqlite_person(bf_sqlite *store, int64_t id, struct bf_person *person) {
  char text[80];
  sqlite3_snprintf(sizeof text, text, "SELECT * FROM person WHERE id = %lld", (long long)id);
  memset(person, 0, sizeof *person);
  int error = each(store, text, person, take_person);
  return error || person->id == id ? error : BF_SQLITE_ERROR + SQLITE_NOTFOUND;
}

// One transaction of that many scattered updates.
static int update(bf_sqlite *store, int64_t updates) {
  int error = step(store, BEGIN);
  if (error) return error;
  for (int64_t i = 0; !error && i < updates; i++) {
    int64_t id = bf_scattered(store->next_update++, store->count);
    sqlite3_bind_int64(store->statements[UPDATE], 1, id);
    error = step(store, UPDATE);
  }
  if (!error) error = step(store, COMMIT);
  if (error) step(store, ROLLBACK);
  return error;
}

// Chooses what a commit waits for. With a log, FULL is one sync, and NORMAL none.
static int set_sync(bf_sqlite *store, bf_sync sync) {
  return run(
      store->db, sync == bf_no_sync ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = FULL");
}

int bf_sqlite_commits(bf_sqlite *store, int64_t commits, bf_sync sync, double *seconds) {
  int error = set_sync(store, sync);
  double start = bf_now();
  for (int64_t i = 0; !error && i < commits; i++) error = update(store, 1);
  *seconds = bf_now() - start;
  return error;
}

int bf_sqlite_age(bf_sqlite *store, int64_t rounds, int64_t updates, int64_t commits) {
  int error = set_sync(store, bf_no_sync);
  for (int64_t i = 0; !error && i < rounds; i++) error = update(store, updates);
  for (int64_t i = 0; !error && i < commits; i++) error = update(store, 1);
  return error;
}

int bf_sqlite_bulk_update(bf_sqlite *store, int64_t updates, double *seconds) {
  int error = set_sync(store, bf_no_sync);
  double start = bf_now();
  if (!error) error = update(store, updates);
  *seconds = bf_now() - start;
  return error;
}

int bf_sqlite_lookup(bf_sqlite *store, int64_t lookups, double *nanoseconds_each) {
  sqlite3_stmt *statement = store->statements[LOOKUP];
  int error = run(store->db, "BEGIN");
  double start = bf_now();
  for (int64_t i = 0; !error && i < lookups; i++) {
    sqlite3_bind_int64(statement, 1, bf_scattered(i, store->count));
    int code = sqlite3_step(statement);
    int64_t age = sqlite3_column_int64(statement, 0);
    double score = sqlite3_column_double(statement, 1);
    __asm__ volatile("" : : "r"(&age), "r"(&score) : "memory");
    sqlite3_reset(statement);
    error = code == SQLITE_DONE ? BF_SQLITE_ERROR + SQLITE_NOTFOUND : own(code);
  }
  *nanoseconds_each = (bf_now() - start) * 1e9 / (double)lookups;
  int end = run(store->db, "COMMIT");
  return error ? error : end;
}

int bf_sqlite_sort(bf_sqlite *store, int by_name, int64_t *first_id, double *seconds) {
  *first_id = 0;
  double start = bf_now();
  int error = each(
      store,
      by_name ? "SELECT id FROM person ORDER BY name, id"
              : "SELECT id FROM person ORDER BY age, id",
      first_id, take_integer);
  *seconds = bf_now() - start;
  return error;
}

// Counts rows.
static int count_row(void *context, sqlite3_stmt *statement) {
  __asm__ volatile("" : : "r"(sqlite3_column_int64(statement, 0)) : "memory");
  *(int64_t *)context += 1;
  return 1;
}

int bf_sqlite_requery(bf_sqlite *store, int64_t *matches, double *seconds) {
  *matches = 0;
  double start = bf_now();
  int error = each(
      store, "SELECT id FROM person WHERE age > 50 ORDER BY name, id", matches, count_row);
  *seconds = bf_now() - start;
  return error;
}

int bf_sqlite_reopen(bf_sqlite *store, double *seconds) {
  close_database(store);
  int64_t age = -1;
  double start = bf_now();
  int error = open_database(store->path, &store->db);
  if (!error) error = each(store, "SELECT age FROM person WHERE id = 1", &age, take_integer);
  *seconds = bf_now() - start;
  if (!error) error = prepare(store);
  if (!error && age < 0) error = BF_SQLITE_ERROR + SQLITE_NOTFOUND;
  return error;
}
