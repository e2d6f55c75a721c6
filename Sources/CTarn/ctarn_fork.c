#define _GNU_SOURCE
#include "ctarn_fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

uint32_t tarn_fork_count_;
static void watch_forks(void);
static pthread_once_t watching = PTHREAD_ONCE_INIT;

// Descriptors plus one, so that zero is an empty slot. Plain atomics: the child handler may run
// while another thread of the parent was in the middle of anything.
enum { CHILD_SLOTS = 1024 };
static int child_slots[CHILD_SLOTS];

// Closes what the child must not keep.
static void close_in_child(void) {
  for (int i = 0; i < CHILD_SLOTS; i++) {
    int slot = __atomic_exchange_n(&child_slots[i], 0, __ATOMIC_RELAXED);
    if (slot != 0) close(slot - 1);
  }
}

int tarn_close_in_child(int fd) {
  pthread_once(&watching, watch_forks);
  for (int i = 0; i < CHILD_SLOTS; i++) {
    int empty = 0;
    if (__atomic_compare_exchange_n(&child_slots[i], &empty, fd + 1, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return 0;
  }
  return EMFILE;
}

void tarn_forget_in_child(int fd) {
  for (int i = 0; i < CHILD_SLOTS; i++) {
    int mine = fd + 1;
    if (__atomic_compare_exchange_n(&child_slots[i], &mine, 0, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return;
  }
}

// ---- our threads ----------------------------------------------------------------------------

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t counted = PTHREAD_COND_INITIALIZER;
// How many threads are busy, and how many fork: whoever is to become busy waits for those.
static int busy, forking;

void tarn_thread_busy(void) {
  pthread_once(&watching, watch_forks);
  pthread_mutex_lock(&counting);
  while (forking > 0) pthread_cond_wait(&counted, &counting);
  busy++;
  pthread_mutex_unlock(&counting);
}

void tarn_thread_resting(void) {
  pthread_mutex_lock(&counting);
  // In a child that one of our threads forked, that thread is not counted.
  if (busy > 0) busy--;
  if (forking > 0) pthread_cond_broadcast(&counted);
  pthread_mutex_unlock(&counting);
}

// Runs in the forking thread, before it forks.
static void before_fork(void) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += 1;
  pthread_mutex_lock(&counting);
  forking++;
  int result = 0;
  while (busy > 0 && result != ETIMEDOUT)
    result = pthread_cond_clockwait(&counted, &counting, CLOCK_MONOTONIC, &limit);
  pthread_mutex_unlock(&counting);
}

// Runs in the forking thread, after it has forked.
static void after_fork(void) {
  pthread_mutex_lock(&counting);
  if (--forking == 0) pthread_cond_broadcast(&counted);
  pthread_mutex_unlock(&counting);
}

// Runs in each forked child, before anything else there. Another thread of the parent may have been
// in the middle of counting.
static void in_child(void) {
  __atomic_fetch_add(&tarn_fork_count_, 1, __ATOMIC_RELAXED);
  close_in_child();
  counting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  counted = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  busy = forking = 0;
}

// Once a process.
static void watch_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }
