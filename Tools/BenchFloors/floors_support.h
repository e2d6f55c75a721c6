#ifndef FLOORS_SUPPORT_H
#define FLOORS_SUPPORT_H
#include "bench_floors.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A packed row: 8 bytes each for id, age, score and dob; 1 byte active; 1 byte and the name; 1 byte
// and the city. Little endian and unaligned, as LMDB returns it.
enum {
  BF_ROW_AGE = 8,
  BF_ROW_SCORE = 16,
  BF_ROW_DOB = 24,
  BF_ROW_ACTIVE = 32,
  BF_ROW_NAME = 33,
  BF_NAME_BYTES = 12,
  BF_ROW_BYTES_MAX = 64,
};

// SQLite's result codes and LMDB's error numbers overlap errno: SQLite's are moved up here.
enum { BF_SQLITE_ERROR = 100000 };

// Every path of a store fits; a longer one makes creating the store fail with ENAMETOOLONG.
enum { BF_PATH_BYTES = 1024 };

double bf_now(void);
uint64_t bf_random(uint64_t *state);
size_t bf_row_pack(const struct bf_person *person, unsigned char row[BF_ROW_BYTES_MAX]);
int bf_row_unpack(const void *row, size_t bytes, struct bf_person *person);
int bf_path(const char *folder, const char *name, char path[BF_PATH_BYTES]);

// The sort key of a person: the name as two numbers that compare like its bytes.
struct bf_named {
  uint64_t high;
  uint32_t low;
  int64_t id;
};

struct bf_named bf_named_make(const char *name, int64_t id);
int bf_named_compare(const void *left, const void *right);

// The moments of one wake; `sent` and `woken` are 0 if no wake is sent.
struct bf_wake_times {
  double began;  // the commit
  double sent;  // the commit is done and the wake is sent
  double woken;  // the watcher runs
  double read;  // it has read the value
};

// Memory shared by the writer and the watcher process during a measurement.
struct bf_wake {
  int64_t wakes;
  _Atomic int64_t ready;  // 1 when the watcher waits for the first wake
  _Atomic int64_t seen;     // how many commits the watcher has read
  _Atomic int64_t failure;  // the watcher's error, 0 if none
  struct bf_wake_times times[];
};

struct bf_wake *bf_wake_share(int64_t wakes);
void bf_wake_unshare(struct bf_wake *wake);
int bf_wake_await(struct bf_wake *wake, _Atomic int64_t *counter, int64_t at_least);
int bf_wake_summary(const struct bf_wake *wake, struct bf_latency *latency);
int bf_wake_run(
    struct bf_wake *wake, int watcher, void *context, int (*watch)(struct bf_wake *, void *),
    int (*write)(struct bf_wake *, void *));
void bf_pause(double seconds);
// Forks a child that ends with this process.
pid_t bf_fork(void);
// Waits for a child, which is killed first if there was an error; returns the error.
int bf_end_child(pid_t child, int error);
#endif
