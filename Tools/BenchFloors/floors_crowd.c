// Many processes that follow one file: what they cost while nothing happens, and how soon all have
// read what one commits.
//
// Each process sleeps on one shared word. A commit changes the word and wakes the first sleepers,
// and each of those wakes others. One process has the duty to look at the file four times a second,
// in case a writer died between its commit and the wake; a lock says which. The others check every
// second or two that it does.
#define _GNU_SOURCE  // F_OFD_SETLK
#include "floors_lmdb.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WOKEN_BY_ONE = 8, LOOKS_A_SECOND = 4, CROWD_MAX = 1024 };
static const double patience_seconds = 60;

struct seat {
  _Alignas(64) _Atomic int64_t value;  // the last one read; -1 before the process sleeps
  double read;
};

// Shared by all processes.
struct board {
  _Atomic uint32_t word;
  _Atomic int failure;
  _Alignas(64) _Atomic double looked;
  struct seat seats[];
};

struct bf_crowd {
  struct board *board;
  MDB_env *env;
  int64_t value;
  int count;
  pid_t processes[CROWD_MAX];
  char data_path[BF_PATH_BYTES];
  char lock_path[BF_PATH_BYTES];
  char duty_path[BF_PATH_BYTES];
};

static size_t board_bytes(void) {
  return sizeof(struct board) + CROWD_MAX * sizeof(struct seat);
}

static char value_name[] = "value";

static int read_value(MDB_env *env, MDB_txn **txn, int64_t *value) {
  int error = *txn ? mdb_txn_renew(*txn) : mdb_txn_begin(env, NULL, MDB_RDONLY, txn);
  if (error) return error;
  MDB_val key = {sizeof value_name, value_name}, data;
  error = mdb_get(*txn, 1, &key, &data);
  if (!error) memcpy(value, data.mv_data, sizeof *value);
  mdb_txn_reset(*txn);
  return error == MDB_NOTFOUND ? 0 : error;
}

static int open_env(const char *path, MDB_env **result) {
  MDB_env *env = NULL;
  int error = mdb_env_create(&env);
  if (error) return error;
  error = mdb_env_set_maxreaders(env, CROWD_MAX);
  if (!error) error = mdb_env_set_mapsize(env, (size_t)1 << 30);
  unsigned flags = MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOTLS;
  if (!error) error = mdb_env_open(env, path, flags, 0644);
  // Opening the main tree in a transaction sets its order of keys.
  MDB_txn *txn = NULL;
  MDB_dbi tree;
  if (!error) error = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
  if (!error) error = mdb_dbi_open(txn, NULL, 0, &tree);
  if (txn) mdb_txn_abort(txn);
  if (error) {
    mdb_env_close(env);
    return error;
  }
  *result = env;
  return 0;
}

static void wake(struct board *board) {
  syscall(SYS_futex, &board->word, FUTEX_WAKE, WOKEN_BY_ONE, NULL, NULL, 0);
}

static void sleep_on(struct board *board, uint32_t seen, double seconds) {
  struct timespec limit = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  syscall(SYS_futex, &board->word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

static int take_duty(int file) {
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
  return fcntl(file, F_OFD_SETLK, &range) == 0;
}

// One of the processes.
static int follow(struct bf_crowd *crowd, struct seat *seat, uint64_t random) {
  struct board *board = crowd->board;
  MDB_env *env = NULL;
  MDB_txn *txn = NULL;
  int error = open_env(crowd->data_path, &env);
  if (error) return error;
  int file = open(crowd->duty_path, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  int has_duty = 0;
  double next_try = 0;
  uint32_t seen = atomic_load(&board->word);
  int64_t value = 0;
  error = read_value(env, &txn, &value);
  atomic_store(&seat->value, value);
  while (!error) {
    double now = bf_now();
    if (!has_duty && now >= next_try) {
      has_duty = take_duty(file);
      next_try = now + 1 + (double)(bf_random(&random) % 1000) / 1000;
      // The process with the duty may be stopped.
      if (!has_duty && now - atomic_load(&board->looked) > 1) error = read_value(env, &txn, &value);
    }
    if (has_duty) {
      atomic_store(&board->looked, now);
      error = read_value(env, &txn, &value);
      next_try = now + 1.0 / LOOKS_A_SECOND;
    }
    sleep_on(board, seen, next_try - now);
    uint32_t word = atomic_load(&board->word);
    if (word == seen) continue;
    seen = word;
    wake(board);
    error = read_value(env, &txn, &value);
    seat->read = bf_now();
    atomic_store(&seat->value, value);
  }
  return error;
}

static int make_file(const char *path) {
  int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  close(file);
  return 0;
}

static int set_value(struct bf_crowd *crowd) {
  MDB_txn *txn = NULL;
  int error = mdb_txn_begin(crowd->env, NULL, 0, &txn);
  if (error) return error;
  MDB_val key = {sizeof value_name, value_name};
  MDB_val data = {sizeof crowd->value, &crowd->value};
  error = mdb_put(txn, 1, &key, &data, 0);
  if (!error) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return error;
}

// Waits until all processes have read the value.
static int await(struct bf_crowd *crowd, double *last) {
  double deadline = bf_now() + patience_seconds;
  *last = 0;
  for (int i = 0; i < crowd->count;) {
    struct seat *seat = &crowd->board->seats[i];
    if (atomic_load(&seat->value) == crowd->value) {
      if (seat->read > *last) *last = seat->read;
      i++;
      continue;
    }
    int failure = atomic_load(&crowd->board->failure);
    if (failure) return failure;
    if (bf_now() > deadline) return ETIMEDOUT;
    bf_pause(200e-6);
  }
  return 0;
}

int bf_crowd_make(const char *folder, bf_crowd **result) {
  bf_crowd *crowd = calloc(1, sizeof *crowd);
  if (!crowd) return ENOMEM;
  *result = crowd;
  crowd->board =
      mmap(NULL, board_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (crowd->board == MAP_FAILED) {
    crowd->board = NULL;
    return errno;
  }
  int error = bf_path(folder, "crowd.mdb", crowd->data_path);
  if (!error) error = bf_path(folder, "crowd.mdb-lock", crowd->lock_path);
  if (!error) error = bf_path(folder, "crowd.duty", crowd->duty_path);
  if (!error) error = make_file(crowd->duty_path);
  return error;
}

int bf_crowd_join(bf_crowd *crowd, int processes) {
  if (crowd->count + processes > CROWD_MAX) return EINVAL;
  // LMDB does not survive a fork.
  if (crowd->env) mdb_env_close(crowd->env);
  crowd->env = NULL;
  for (int i = 0; i < processes; i++) {
    struct seat *seat = &crowd->board->seats[crowd->count];
    atomic_store(&seat->value, -1);
    pid_t child = bf_fork();
    if (child < 0) return errno;
    if (child == 0) {
      int failure = follow(crowd, seat, (uint64_t)getpid());
      atomic_store(&crowd->board->failure, failure);
      _exit(1);
    }
    crowd->processes[crowd->count++] = child;
  }
  double last = 0;
  int error = await(crowd, &last);
  if (!error) error = open_env(crowd->data_path, &crowd->env);
  return error;
}

int bf_crowd_wake(bf_crowd *crowd, double *seconds) {
  double start = bf_now(), last = 0;
  crowd->value++;
  int error = set_value(crowd);
  if (error) return error;
  atomic_fetch_add(&crowd->board->word, 1);
  wake(crowd->board);
  error = await(crowd, &last);
  *seconds = last - start;
  return error;
}

int bf_processor_seconds(int process, double *seconds) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = opendir(path);
  if (!tasks) return errno;
  unsigned long long sum = 0;
  for (struct dirent *task; (task = readdir(tasks));) {
    if (task->d_name[0] == '.') continue;
    char name[NAME_MAX + 80];
    snprintf(name, sizeof name, "%s/%s/schedstat", path, task->d_name);
    FILE *file = fopen(name, "re");
    unsigned long long used = 0;
    if (file && fscanf(file, "%llu", &used) == 1) sum += used;
    if (file) fclose(file);
  }
  closedir(tasks);
  *seconds = (double)sum * 1e-9;
  return 0;
}

int bf_crowd_processor(bf_crowd *crowd, double *used) {
  *used = 0;
  for (int i = 0; i < crowd->count; i++) {
    double now = 0;
    int error = bf_processor_seconds(crowd->processes[i], &now);
    if (error) return error;
    *used += now;
  }
  return atomic_load(&crowd->board->failure);
}

int bf_crowd_idle(bf_crowd *crowd, double seconds, double *used) {
  double before = 0, after = 0;
  int error = bf_crowd_processor(crowd, &before);
  bf_pause(seconds);
  if (!error) error = bf_crowd_processor(crowd, &after);
  *used = (after - before) / seconds;
  return error;
}

void bf_crowd_end(bf_crowd *crowd) {
  if (!crowd) return;
  for (int i = 0; i < crowd->count; i++) bf_end_child(crowd->processes[i], ECANCELED);
  if (crowd->env) mdb_env_close(crowd->env);
  if (crowd->board) munmap(crowd->board, board_bytes());
  unlink(crowd->data_path);
  unlink(crowd->lock_path);
  unlink(crowd->duty_path);
  free(crowd);
}
