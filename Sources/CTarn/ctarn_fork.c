#define _GNU_SOURCE
#include "ctarn_fork.h"
#include "ctarn_shared.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

uint32_t tarn_fork_count_;
static uint32_t lasting_mark = 1;
uint32_t *tarn_fork_mark_ = &lasting_mark;
static bool unprepared;

// A bit for each descriptor that a child closes, as many as Linux allows a process by default
// (fs.nr_open). Plain atomics: the child handler may run while another thread of the parent was in
// the middle of anything. Unused pages of the table take no memory.
enum { CHILD_FDS = 1 << 20, WORD_BITS = 64 };
static uint64_t child_fds[CHILD_FDS / WORD_BITS];
// The number of words used so far.
static int child_words;

// Closes the descriptors that the child must not keep.
static void close_in_child(void) {
  int words = __atomic_load_n(&child_words, __ATOMIC_SEQ_CST);
  for (int i = 0; i < words; i++) {
    uint64_t bits = __atomic_exchange_n(&child_fds[i], 0, __ATOMIC_RELAXED);
    for (; bits != 0; bits &= bits - 1) close(i * WORD_BITS + __builtin_ctzll(bits));
  }
}

int tarn_close_in_child(int fd) {
  if (fd < 0 || fd >= CHILD_FDS) return EMFILE;
  int word = fd / WORD_BITS;
  int known = __atomic_load_n(&child_words, __ATOMIC_SEQ_CST);
  while (known <= word && !__atomic_compare_exchange_n(&child_words, &known, word + 1, false,
                                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    continue;
  __atomic_fetch_or(&child_fds[word], UINT64_C(1) << fd % WORD_BITS, __ATOMIC_SEQ_CST);
  return 0;
}

void tarn_forget_in_child(int fd) {
  if (fd < 0 || fd >= CHILD_FDS) return;
  __atomic_fetch_and(&child_fds[fd / WORD_BITS], ~(UINT64_C(1) << fd % WORD_BITS),
                     __ATOMIC_SEQ_CST);
}

void tarn_unlock_and_close(int fd) {
  tarn_unlock(fd, 0, 0);
  tarn_forget_in_child(fd);
  close(fd);
}

// ---- the library's threads ------------------------------------------------------------------

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t counted = PTHREAD_COND_INITIALIZER;
// The number of busy threads and of forking ones. A thread that becomes busy waits for forks.
static int busy, forking;

void tarn_thread_busy(void) {
  pthread_mutex_lock(&counting);
  while (forking > 0) pthread_cond_wait(&counted, &counting);
  busy++;
  pthread_mutex_unlock(&counting);
}

void tarn_thread_resting(void) {
  pthread_mutex_lock(&counting);
  // In a child that one of the library's threads forked, that thread is not counted.
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

// Another thread of the parent may have been counting.
static void start_child(bool is_unprepared) {
  __atomic_fetch_add(&tarn_fork_count_, 1, __ATOMIC_RELAXED);
  close_in_child();
  counting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  counted = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  busy = forking = 0;
  __atomic_store_n(&unprepared, is_unprepared, __ATOMIC_RELAXED);
  // Last: a thread that sees the mark sees the rest as well.
  __atomic_store_n(tarn_fork_mark_, 1, __ATOMIC_RELEASE);
}

// Runs first in each forked child.
static void in_child(void) { start_child(false); }

// Two threads may do this at once, which is harmless.
void tarn_notice_fork(void) { start_child(true); }

bool tarn_forked_unprepared(void) {
  tarn_fork_count();
  return __atomic_load_n(&unprepared, __ATOMIC_RELAXED);
}

// Runs before main. If the kernel does not clear pages, only the C library's fork is noticed.
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork, in_child);
  size_t length = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  *(uint32_t *)page = 1;
  if (madvise(page, length, MADV_WIPEONFORK) == 0) tarn_fork_mark_ = page;
}
