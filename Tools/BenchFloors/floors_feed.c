// The baselines for a change feed: a walk over the same change records, and the alternatives on
// SQLite: its session extension, or triggers that fill an outbox.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include "floors_packages.h"
#include "floors_support.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the walk ----

// CRC-32C of a value, eight bytes at a time.
#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c(const unsigned char *bytes, size_t count) {
  uint64_t sum = 0xffffffff;
  while (count >= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    sum = __builtin_ia32_crc32di(sum, word);
    bytes += 8;
    count -= 8;
  }
  while (count-- > 0) sum = __builtin_ia32_crc32qi((uint32_t)sum, *bytes++);
  return (uint32_t)sum ^ 0xffffffff;
}
#else
static uint32_t crc32c(const unsigned char *bytes, size_t count) {
  uint32_t sum = 0xffffffff;
  while (count-- > 0) {
    sum ^= *bytes++;
    for (int i = 0; i < 8; i++) sum = sum & 1 ? (sum >> 1) ^ 0x82f63b78 : sum >> 1;
  }
  return sum ^ 0xffffffff;
}
#endif

int bf_feed_walk(
    const char *path, int tag, int64_t *values, uint32_t *sum, double *seconds) {
  MDB_env *env = NULL;
  MDB_txn *txn = NULL;
  MDB_cursor *cursor = NULL;
  MDB_dbi dbi;
  *values = 0;
  *sum = 0;
  const unsigned flags = MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK;
  int error = mdb_env_create(&env);
  if (!error) error = mdb_env_set_mapsize(env, (size_t)1 << 36);
  if (!error) error = mdb_env_open(env, path, flags, 0600);
  if (!error) error = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
  if (!error) error = mdb_dbi_open(txn, NULL, 0, &dbi);
  if (!error) error = mdb_cursor_open(txn, dbi, &cursor);
  if (!error) {
    const double start = bf_now();
    unsigned char first = (unsigned char)tag;
    MDB_val key = {1, &first}, value;
    int found = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (!found && *(const unsigned char *)key.mv_data == first) {
      *sum ^= crc32c(value.mv_data, value.mv_size);
      ++*values;
      found = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    if (found && found != MDB_NOTFOUND) error = found;
    *seconds = bf_now() - start;
  }
  if (cursor) mdb_cursor_close(cursor);
  if (txn) mdb_txn_abort(txn);
  if (env) mdb_env_close(env);
  return error;
}

// ---- SQLite ----

struct bf_sqlite_feed {
  sqlite3 *db;
  sqlite3_stmt *update;
  sqlite3_stmt *keep;
  char path[BF_PATH_BYTES];
  int64_t rows;
  int64_t next;
  int kind;
};

static int own(int code) {
  return code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW ? 0
                                                                        : BF_SQLITE_ERROR + code;
}

static int run(sqlite3 *db, const char *text) {
  return own(sqlite3_exec(db, text, NULL, NULL, NULL));
}

static const char tables_text[] =
    "CREATE TABLE item (id INTEGER PRIMARY KEY, age INTEGER NOT NULL, name TEXT NOT NULL);"
    "CREATE TABLE changeset (version INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
    "CREATE TABLE outbox (version INTEGER PRIMARY KEY, id INTEGER NOT NULL, kind TEXT NOT NULL,"
    " age INTEGER)";

static const char triggers_text[] =
    "CREATE TRIGGER i AFTER INSERT ON item BEGIN"
    " INSERT INTO outbox (id, kind, age) VALUES (new.id, 'i', new.age); END;"
    "CREATE TRIGGER u AFTER UPDATE ON item BEGIN"
    " INSERT INTO outbox (id, kind, age) VALUES (new.id, 'u', new.age); END;"
    "CREATE TRIGGER d AFTER DELETE ON item BEGIN"
    " INSERT INTO outbox (id, kind, age) VALUES (old.id, 'd', NULL); END";

static const char fill_text[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %lld)"
    " INSERT INTO item SELECT i, i %% 100, 'name ' || i FROM n";

int bf_sqlite_feed_create(const char *folder, int64_t rows, int kind, bf_sqlite_feed **feed) {
  bf_sqlite_feed *made = calloc(1, sizeof *made);
  if (!made) return ENOMEM;
  made->rows = rows;
  made->kind = kind;
  int error = bf_path(folder, "sqlite-feed", made->path);
  if (!error) error = own(sqlite3_open(made->path, &made->db));
  if (!error) error = run(made->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  if (!error) error = run(made->db, "PRAGMA cache_size = -262144");
  if (!error) error = run(made->db, tables_text);
  char *text = sqlite3_mprintf(fill_text, (long long)rows);
  if (!error) error = text ? run(made->db, text) : ENOMEM;
  sqlite3_free(text);
  if (!error && kind == BF_FEED_OUTBOX) error = run(made->db, triggers_text);
  static const char update[] = "UPDATE item SET age = (age + 1) % 100 WHERE id = ?";
  static const char keep[] = "INSERT INTO changeset (bytes) VALUES (?)";
  if (!error) error = own(sqlite3_prepare_v2(made->db, update, -1, &made->update, NULL));
  if (!error) error = own(sqlite3_prepare_v2(made->db, keep, -1, &made->keep, NULL));
  if (error) {
    bf_sqlite_feed_destroy(made);
    return error;
  }
  *feed = made;
  return 0;
}

void bf_sqlite_feed_destroy(bf_sqlite_feed *feed) {
  if (!feed) return;
  sqlite3_finalize(feed->update);
  sqlite3_finalize(feed->keep);
  sqlite3_close(feed->db);
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; i++) {
    char beside[BF_PATH_BYTES + 8];
    strcpy(beside, feed->path);
    strcat(beside, endings[i]);
    unlink(beside);
  }
  free(feed);
}

static int step(sqlite3_stmt *statement) {
  int error = own(sqlite3_step(statement));
  const int reset = own(sqlite3_reset(statement));
  return error ? error : reset;
}

// One transaction: the update, and its changeset in the same transaction.
static int commit_one(bf_sqlite_feed *feed) {
  sqlite3_session *session = NULL;
  int error = run(feed->db, "BEGIN IMMEDIATE");
  if (!error && feed->kind == BF_FEED_SESSION) {
    error = own(sqlite3session_create(feed->db, "main", &session));
    if (!error) error = own(sqlite3session_attach(session, "item"));
  }
  if (!error) {
    error = own(sqlite3_bind_int64(feed->update, 1, bf_scattered(feed->next++, feed->rows)));
  }
  if (!error) error = step(feed->update);
  if (session) {
    void *bytes = NULL;
    int count = 0;
    if (!error) error = own(sqlite3session_changeset(session, &count, &bytes));
    sqlite3session_delete(session);
    if (!error) error = own(sqlite3_bind_blob(feed->keep, 1, bytes, count, SQLITE_STATIC));
    if (!error) error = step(feed->keep);
    sqlite3_free(bytes);
  }
  if (!error) return run(feed->db, "COMMIT");
  run(feed->db, "ROLLBACK");
  return error;
}

int bf_sqlite_feed_commits(bf_sqlite_feed *feed, int64_t commits, double *seconds) {
  const double start = bf_now();
  int error = 0;
  for (int64_t i = 0; !error && i < commits; i++) error = commit_one(feed);
  *seconds = bf_now() - start;
  return error;
}

static int merge_changesets(bf_sqlite_feed *feed, int64_t *objects) {
  sqlite3_stmt *all = NULL;
  sqlite3_changegroup *group = NULL;
  sqlite3_changeset_iter *iterator = NULL;
  void *bytes = NULL;
  int count = 0;
  int error = own(sqlite3changegroup_new(&group));
  static const char text[] = "SELECT bytes FROM changeset ORDER BY version";
  if (!error) error = own(sqlite3_prepare_v2(feed->db, text, -1, &all, NULL));
  while (!error && sqlite3_step(all) == SQLITE_ROW) {
    void *one = (void *)sqlite3_column_blob(all, 0);
    error = own(sqlite3changegroup_add(group, sqlite3_column_bytes(all, 0), one));
  }
  sqlite3_finalize(all);
  if (!error) error = own(sqlite3changegroup_output(group, &count, &bytes));
  if (!error) error = own(sqlite3changeset_start(&iterator, count, bytes));
  while (!error && sqlite3changeset_next(iterator) == SQLITE_ROW) ++*objects;
  if (iterator) sqlite3changeset_finalize(iterator);
  sqlite3_free(bytes);
  if (group) sqlite3changegroup_delete(group);
  return error;
}

static int merge_outbox(bf_sqlite_feed *feed, int64_t *objects) {
  sqlite3_stmt *all = NULL;
  static const char text[] =
      "SELECT id, kind, age FROM outbox WHERE version IN"
      " (SELECT max(version) FROM outbox GROUP BY id)";
  int error = own(sqlite3_prepare_v2(feed->db, text, -1, &all, NULL));
  while (!error && sqlite3_step(all) == SQLITE_ROW) ++*objects;
  sqlite3_finalize(all);
  return error;
}

int bf_sqlite_feed_merge(bf_sqlite_feed *feed, int64_t *objects, double *seconds) {
  *objects = 0;
  const double start = bf_now();
  const int error = feed->kind == BF_FEED_SESSION ? merge_changesets(feed, objects)
                                                  : merge_outbox(feed, objects);
  *seconds = bf_now() - start;
  return error;
}
