#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H
#include <stdint.h>

// The floors of the benchmark: for each job a plain C program on raw LMDB that does only that job,
// and the same job on SQLite, the usual alternative. They run in the process of the benchmark, next
// to the measurement of the library, so that a ratio compares two figures of the same minute on the
// same machine.
//
// Rules: every function works in the folder that the caller names, and leaves only its store there
// until it is destroyed. 0 is success; anything else is an error for bf_error_text(). Functions do
// not print, exit or keep global state. A handle is confined to one thread at a time. Times are
// seconds unless the name says otherwise, and cover only the job, not filling the store.

// The object of every workload. A row stores it packed, see floors_support.c.
struct bf_person {
  int64_t id;
  int64_t age;     // 0...99
  double score;    // 0..<1
  int64_t dob;     // seconds since 1970
  char name[13];   // 12 lower-case letters and a zero byte
  char city[9];    // "city-00" ... "city-99" and a zero byte
  uint8_t is_active;
};

// Fills the person with a number: the same number always gives the same person, so that the
// library, LMDB and SQLite store equal data.
void bf_person_make(int64_t id, struct bf_person *person);

// The text of an error number. It is never freed.
const char *bf_error_text(int error);

// One-way latencies in seconds: two percentiles, and the medians of the parts if there is a wake.
struct bf_latency {
  double p50;
  double p99;
  double commit;  // until the watcher's wake is sent
  double wake;    // until the watcher runs
  double turn;    // until it has the value
};

// The CPUs of a writer and its watcher, one each. The kernel's scheduler sometimes puts both on one
// CPU; then a switch between two processes is measured, and no wake from idle.
struct bf_cpus {
  int writer;
  int watcher;  // -1: this process may use only one CPU, and nothing is pinned
  uint64_t all[16];  // the thread's CPUs before
};
// Pins the calling thread to the writer's CPU, until bf_cpus_leave().
int bf_cpus_take(struct bf_cpus *cpus);
int bf_cpus_leave(const struct bf_cpus *cpus);
// Pins the calling thread to one CPU; does nothing for -1.
int bf_run_on(int cpu);

// ---- raw LMDB ----

// A store of persons on raw LMDB: a tree of packed rows, a tree from id to row, a counter.
typedef struct bf_lmdb bf_lmdb;

// W1: creates a store with the persons 1...rows in one transaction, not synced, with ids in
// ascending order. `seconds` covers begin to commit. The floor is append = 0, one mdb_put() per
// tree and row; with append = 1 two cursors append, which needs ascending ids.
int bf_lmdb_create(
    const char *folder, int64_t rows, int append, bf_lmdb **store, double *seconds);
// Closes the store and removes its files. NULL is allowed.
void bf_lmdb_destroy(bf_lmdb *store);
// The number of rows, counted by a walk over them.
int bf_lmdb_count(bf_lmdb *store, int64_t *rows);
// Reads one person through the index. Returns MDB_NOTFOUND if the person does not exist.
int bf_lmdb_person(bf_lmdb *store, int64_t id, struct bf_person *person);
// The size of the data file, for W1f.
int bf_lmdb_file_bytes(bf_lmdb *store, int64_t *bytes);
// What a commit waits for: nothing; LMDB's pages, but not the header page (MDB_NOMETASYNC); both.
typedef enum bf_sync { bf_no_sync, bf_one_sync, bf_full } bf_sync;

// W2a, W2c and W2b: `commits` transactions, each of which adds 1 to one person's age.
int bf_lmdb_commits(bf_lmdb *store, int64_t commits, bf_sync sync, double *seconds);
// Ages the store before W2g: `rounds` transactions of `updates` scattered updates each, then
// `commits` small ones, none synced. W2g then measures bf_lmdb_commits().
int bf_lmdb_age(bf_lmdb *store, int64_t rounds, int64_t updates, int64_t commits);
// W2m: one transaction, not synced, of `updates` updates of ages across the store.
int bf_lmdb_bulk_update(bf_lmdb *store, int64_t updates, double *seconds);
// W3: finds persons by id in a scattered order in one read transaction and reads age and score.
int bf_lmdb_lookup(bf_lmdb *store, int64_t lookups, double *nanoseconds_each);
// W5r: reads `count` consecutive ids, from each of `firsts` on, in one read transaction each, and
// sums age and score. `seconds` is for all of them.
int bf_lmdb_ranges(
    bf_lmdb *store, const int64_t *firsts, int64_t ranges, int64_t count, double *sum,
    double *seconds);
// W6i: reads the first id `times` times, in one read transaction each. `seconds` is for all of
// them.
int bf_lmdb_first(bf_lmdb *store, int64_t times, int64_t *first_id, double *seconds);
// The queries that W5 counts.
enum bf_query { BF_AGE_IS_42, BF_NAME_IS, BF_NAME_CONTAINS, BF_AGE_AND_SCORE, BF_SUM_BY_AGE };
// W5: counts the matches of a query among the persons 1...count, in a separate store in `folder`
// that has them in clusters of 128, column by column. The best of five scans. `text` is compared
// with names.
int bf_lmdb_scan(
    const char *folder, int64_t count, int query, const char *text, int64_t *matches,
    double *seconds);
// W6: reads every row, collects (age or name, id), sorts with qsort(). `first_id` is the result.
int bf_lmdb_sort(bf_lmdb *store, int by_name, int64_t *first_id, double *seconds);
// W7 for large changes: repeats `age > 50`, sorted by name. `matches` is the result's length.
int bf_lmdb_requery(bf_lmdb *store, int64_t *matches, double *seconds);
// W7 for k = 1: maintains `age > 50` sorted by name in an array; each change is a commit that is
// not synced, a binary search for the old and for the new position, and one memmove. `in_order` is
// whether the array was sorted and complete at the end.
int bf_lmdb_reinsert(
    bf_lmdb *store, int64_t changes, int *in_order, double *seconds_each);
// W8: a writer and a watcher process; from the start of a commit that is not synced until the
// watcher, woken from inotify by one pwrite, has read the value in a new transaction. The watcher
// runs on the CPU `watcher`, or anywhere for -1.
int bf_lmdb_wake(const char *folder, int64_t wakes, int watcher, struct bf_latency *latency);
// W17: processes that follow one file; see floors_crowd.c. End it even if making it failed.
typedef struct bf_crowd bf_crowd;
int bf_crowd_make(const char *folder, bf_crowd **crowd);
// Adds processes, and waits until all sleep.
int bf_crowd_join(bf_crowd *crowd, int processes);
// One commit that is not synced: from its start until the last process has read the value.
int bf_crowd_wake(bf_crowd *crowd, double *seconds);
// The processor time of all of them so far.
int bf_crowd_processor(bf_crowd *crowd, double *used);
// The processor time that all of them take in a second, measured over that many.
int bf_crowd_idle(bf_crowd *crowd, double seconds, double *used);
void bf_crowd_end(bf_crowd *crowd);
// The processor time of a process so far, to the nanosecond.
int bf_processor_seconds(int process, double *seconds);
// W10: closes the store (not timed), then opens it, begins a read and gets one person.
int bf_lmdb_reopen(bf_lmdb *store, double *seconds);

// ---- SQLite: prepared statements, WAL, synchronous FULL if durable, otherwise OFF ----

// A store of persons in one SQLite table with an integer primary key.
typedef struct bf_sqlite bf_sqlite;

// Each does the same as its LMDB counterpart above.
int bf_sqlite_create(const char *folder, int64_t rows, bf_sqlite **store, double *seconds);
void bf_sqlite_destroy(bf_sqlite *store);
int bf_sqlite_count(bf_sqlite *store, int64_t *rows);
int bf_sqlite_person(bf_sqlite *store, int64_t id, struct bf_person *person);
int bf_sqlite_file_bytes(bf_sqlite *store, int64_t *bytes);
int bf_sqlite_commits(bf_sqlite *store, int64_t commits, bf_sync sync, double *seconds);
int bf_sqlite_age(bf_sqlite *store, int64_t rounds, int64_t updates, int64_t commits);
int bf_sqlite_bulk_update(bf_sqlite *store, int64_t updates, double *seconds);
int bf_sqlite_lookup(bf_sqlite *store, int64_t lookups, double *nanoseconds_each);
int bf_sqlite_sort(bf_sqlite *store, int by_name, int64_t *first_id, double *seconds);
int bf_sqlite_requery(bf_sqlite *store, int64_t *matches, double *seconds);
// The watcher polls every millisecond: SQLite does not wake readers.
int bf_sqlite_wake(const char *folder, int64_t wakes, int watcher, struct bf_latency *latency);
int bf_sqlite_reopen(bf_sqlite *store, double *seconds);

// ---- collections ----

// A list of numbers in chunks, a set of numbers and a map from string to number, each with the
// elements 0, 3, 6 ... (the map's keys number them 0, 1, 2 ...), on raw LMDB. Nothing is synced.
typedef struct bf_lists bf_lists;

int bf_lists_create(const char *folder, int64_t count, bf_lists **lists);
// Closes the store and removes its files. NULL is allowed.
void bf_lists_destroy(bf_lists *lists);
// W11: one transaction of inserts into the list, in its middle or at scattered positions.
int bf_lists_insert(bf_lists *lists, int64_t inserts, int scattered, double *seconds_each);
// W11c: transactions of one insert in the middle each.
int bf_lists_commits(bf_lists *lists, int64_t commits, double *seconds_each);
// W11a: one transaction that appends rows one by one to an empty tree.
int bf_lists_append(bf_lists *lists, int64_t appends, double *seconds_each);
// W11i: reads the list's chunks and sums the elements one by one.
int bf_lists_walk(bf_lists *lists, int64_t *sum, double *seconds_each);
// W11s: looks up scattered numbers in the set of `rows` numbers, which contains a third of them.
int bf_lists_contains(
    bf_lists *lists, int64_t lookups, int64_t rows, int64_t *found, double *seconds_each);
// W11m: looks up existing keys in the map.
int bf_lists_value(
    bf_lists *lists, int64_t lookups, int64_t rows, int64_t *found, double *seconds_each);

enum { BF_MAP_KEY_BYTES = 16 };
// The map's key of that number, with a zero byte.
void bf_map_key(int64_t number, char key[BF_MAP_KEY_BYTES]);

// The number of look-up `number` in the two functions above, plus one.
int64_t bf_scattered(int64_t number, int64_t rows);

// The same on SQLite: the list as rows by position, which makes inserts in the middle slow.
typedef struct bf_sqlite_lists bf_sqlite_lists;

int bf_sqlite_lists_create(const char *folder, int64_t count, bf_sqlite_lists **lists);
void bf_sqlite_lists_destroy(bf_sqlite_lists *lists);
int bf_sqlite_lists_append(bf_sqlite_lists *lists, int64_t appends, double *seconds_each);
int bf_sqlite_lists_walk(bf_sqlite_lists *lists, int64_t *sum, double *seconds_each);
int bf_sqlite_lists_contains(
    bf_sqlite_lists *lists, int64_t lookups, int64_t *found, double *seconds_each);
int bf_sqlite_lists_value(
    bf_sqlite_lists *lists, int64_t lookups, int64_t *found, double *seconds_each);

// ---- change feeds ----

// W14: reads every value of the keys that begin with a byte in the data file at `path`, which
// another environment of this process may have open, and sums its CRC-32C.
int bf_feed_walk(const char *path, int tag, int64_t *values, uint32_t *sum, double *seconds);

// A table in SQLite whose changes are recorded: by the session extension, with a changeset of each
// transaction kept in a table; or by triggers that fill an outbox.
typedef struct bf_sqlite_feed bf_sqlite_feed;
enum bf_feed { BF_FEED_SESSION, BF_FEED_OUTBOX };

int bf_sqlite_feed_create(const char *folder, int64_t rows, int kind, bf_sqlite_feed **feed);
void bf_sqlite_feed_destroy(bf_sqlite_feed *feed);
// Transactions of one update each, not synced.
int bf_sqlite_feed_commits(bf_sqlite_feed *feed, int64_t commits, double *seconds);
// Merges all that was recorded; `objects` is the number of objects in the result.
int bf_sqlite_feed_merge(bf_sqlite_feed *feed, int64_t *objects, double *seconds);

// ---- memory ----

// W4: reads an int, and copies a 12-character string, out of packed rows in memory.
int bf_memory_reads(int64_t reads, double *int_nanoseconds, double *string_nanoseconds);
// The bytes in use on this process's heap, for W9.
int64_t bf_heap_bytes(void);

// ---- The daemon ----

// W15: from a commit to a line that a client reads from a socket, over a process between them that
// reads the value and writes the line.
int bf_lmdb_relay(const char *folder, int64_t wakes, struct bf_latency *latency);
// The same for a socket that another process serves: `commit` writes a time into the value "time"
// that the lines have.
int bf_socket_wake(
    const char *path, int64_t wakes, int (*commit)(void *, double), void *context,
    struct bf_latency *latency);
// Connects to a socket; returns -1 and sets errno if that fails.
int bf_connect(const char *path);

// W15l: clients of a socket, on a thread each; their lines have the time of their newest commit.
typedef struct bf_clients bf_clients;
int bf_clients_start(const char *path, int count, bf_clients **made);
// Waits until each of them has seen the commit that began then; ETIMEDOUT after `patience` seconds.
int bf_clients_await(bf_clients *clients, double began, double patience);
// Ends them: how old the newest commit of a line was at most, and how many lines there were.
int bf_clients_end(bf_clients *clients, double *lag, int64_t *lines);

// W15h: a web server on the loopback interface that counts posts, up to a number.
typedef struct bf_hooks bf_hooks;
int bf_hooks_start(int64_t wanted, int *port, bf_hooks **made);
int64_t bf_hooks_count(bf_hooks *hooks);
// Ends it: posts per second, and the average length of a body.
int bf_hooks_end(bf_hooks *hooks, double *per_second, int64_t *bytes);
// Posts that many bodies over one connection.
int bf_hooks_post(int port, int64_t count, int64_t bytes);

// ---- A server ----

// W16: programs on libpq. Addresses are connection strings or URLs; the server's error messages go
// to standard error.

// Runs statements, and takes the time.
int bf_pg_run(const char *address, const char *statement, double *seconds);
// The number in the first row of a statement.
int bf_pg_number(const char *address, const char *statement, int64_t *number);
// From a commit of one value to another program that was woken by a notification and has read it,
// for each of some rounds with pauses between them.
int bf_pg_wake(
    const char *address, const char *channel, int64_t rounds, double pause, double *latencies);
// Programs that write rows of the table "load" until they are ended.
typedef struct bf_pg_load bf_pg_load;
int bf_pg_load_start(const char *address, int count, bf_pg_load **made);
void bf_pg_load_end(bf_pg_load *load);
// Sends that many changes of persons, in transactions of `run_length`.
int bf_pg_push(
    const char *address, int64_t commits, int64_t objects, int64_t run_length, double *seconds);
// Reads the rows of a statement in the binary format.
int bf_pg_read(const char *address, const char *statement, int64_t *rows, double *seconds);
// Takes the rows of a COPY.
int bf_pg_copy(const char *address, const char *statement, int64_t *bytes, double *seconds);
#endif
