// Two processes that measure how long a commit takes to reach the other one. This file knows
// neither engine: it makes the shared memory, the watcher process and the percentiles.
//
//   parent (writer)                         child (watcher)
//   shares memory, forks
//   waits for `ready`                       opens the store, sets ready
//   begins, notes the time, commits, wakes  waits ... reads the value, notes the time
//   waits for `seen`, rests, again          adds 1 to seen
//
// The child is forked before either side opens a store, since neither engine survives a fork.
#define _GNU_SOURCE  // sched_setaffinity
#include "floors_support.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// How long one side waits for the other before the measurement fails.
static const double patience_seconds = 20;

// The size of the shared memory for that many wakes.
static size_t wake_bytes(int64_t wakes) {
  return sizeof(struct bf_wake) + (size_t)wakes * sizeof(struct bf_wake_times);
}

// Zeroed memory that a forked child shares. NULL and errno on failure.
struct bf_wake *bf_wake_share(int64_t wakes) {
  void *memory =
      mmap(NULL, wake_bytes(wakes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  struct bf_wake *wake = memory;
  wake->wakes = wakes;
  return wake;
}

// Unmaps the shared memory.
void bf_wake_unshare(struct bf_wake *wake) { munmap(wake, wake_bytes(wake->wakes)); }

// Waits in the writer until a counter of the watcher reaches a value. Returns ETIMEDOUT, or the
// watcher's error, if it never does.
int bf_wake_await(struct bf_wake *wake, _Atomic int64_t *counter, int64_t at_least) {
  double deadline = bf_now() + patience_seconds;
  while (atomic_load(counter) < at_least) {
    int failure = (int)atomic_load(&wake->failure);
    if (failure) return failure;
    if (bf_now() > deadline) return ETIMEDOUT;
    bf_pause(20e-6);
  }
  return 0;
}

// Orders doubles for qsort().
static int compare_doubles(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

// The moments of the latency's parts, as offsets into the times of a wake.
enum { BEGAN, SENT, WOKEN, READ };

// A percentile of the time between two moments.
static double percentile(
    const struct bf_wake *wake, double *room, int from, int to, size_t hundredths) {
  size_t count = (size_t)wake->wakes;
  for (size_t i = 0; i < count; i++) {
    const struct bf_wake_times *times = &wake->times[i];
    const double moments[] = {times->began, times->sent, times->woken, times->read};
    room[i] = moments[to] - moments[from];
  }
  qsort(room, count, sizeof(double), compare_doubles);
  return room[count * hundredths / 100];
}

// The median and the ninety-ninth percentile of the whole, and the medians of its parts.
int bf_wake_summary(const struct bf_wake *wake, struct bf_latency *latency) {
  double *room = malloc((size_t)wake->wakes * sizeof(double));
  if (!room) return ENOMEM;
  latency->p50 = percentile(wake, room, BEGAN, READ, 50);
  latency->p99 = percentile(wake, room, BEGAN, READ, 99);
  if (wake->times[0].sent > 0) {
    latency->commit = percentile(wake, room, BEGAN, SENT, 50);
    latency->wake = percentile(wake, room, SENT, WOKEN, 50);
    latency->turn = percentile(wake, room, WOKEN, READ, 50);
  }
  free(room);
  return 0;
}

int bf_run_on(int cpu) {
  if (cpu < 0) return 0;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one) ? errno : 0;
}

int bf_cpus_take(struct bf_cpus *cpus) {
  cpu_set_t all;
  _Static_assert(sizeof all == sizeof cpus->all, "a CPU set of another size");
  *cpus = (struct bf_cpus){-1, -1, {0}};
  if (sched_getaffinity(0, sizeof all, &all)) return errno;
  memcpy(cpus->all, &all, sizeof all);
  if (CPU_COUNT(&all) < 2) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    if (cpus->writer < 0) cpus->writer = cpu;
    cpus->watcher = cpu;
  }
  return bf_run_on(cpus->writer);
}

int bf_cpus_leave(const struct bf_cpus *cpus) {
  cpu_set_t all;
  memcpy(&all, cpus->all, sizeof all);
  return sched_setaffinity(0, sizeof all, &all) ? errno : 0;
}

pid_t bf_fork(void) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child) return child;
  // The parent may have ended before prctl().
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  return 0;
}

int bf_end_child(pid_t child, int error) {
  if (error) kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
  return error;
}

// Forks the watcher, runs the writer here, and always ends the watcher.
int bf_wake_run(
    struct bf_wake *wake, int watcher, void *context, int (*watch)(struct bf_wake *, void *),
    int (*write)(struct bf_wake *, void *)) {
  pid_t child = bf_fork();
  if (child < 0) return errno;
  if (child == 0) {
    int failure = bf_run_on(watcher);
    if (!failure) failure = watch(wake, context);
    atomic_store(&wake->failure, failure);
    _exit(failure ? 1 : 0);
  }
  int error = bf_wake_await(wake, &wake->ready, 1);
  if (!error) error = write(wake, context);
  return bf_end_child(child, error);
}
