#define _GNU_SOURCE
#include "ctarn_fork.h"
#include "ctarn_shared.h"
#include "ctarn_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

uint32_t tarn_fork_count_;
uint32_t tarn_lock_held_ = 1;
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

// ---- contexts -------------------------------------------------------------------------------

// Two pages: this one, and one of contexts, which children find cleared. A bit for each context in
// use; lists of free ones would be cleared, too.
struct block {
  struct block *next;
  uint64_t used[];
};

// A context has a cache line to itself: each belongs to one thread.
enum { CONTEXT_BYTES = 64, CONTEXTS_A_WORD = 64 };

static struct block *newest_block;
static size_t page_bytes;
static bool kernel_clears;

// The page of contexts behind a block.
static char *contexts_of(struct block *block) { return (char *)block + page_bytes; }

// Takes a context that is not in use; null if all are.
static struct tarn_context *find_free(struct block *block) {
  for (size_t word = 0; word < page_bytes / CONTEXT_BYTES / CONTEXTS_A_WORD; word++) {
    uint64_t used = __atomic_load_n(&block->used[word], __ATOMIC_RELAXED);
    while (~used != 0) {
      int bit = __builtin_ctzll(~used);
      used = __atomic_fetch_or(&block->used[word], UINT64_C(1) << bit, __ATOMIC_ACQUIRE);
      if ((used >> bit & 1) != 0) continue;
      size_t index = word * CONTEXTS_A_WORD + (size_t)bit;
      return (struct tarn_context *)(contexts_of(block) + index * CONTEXT_BYTES);
    }
  }
  return NULL;
}

struct tarn_context *tarn_context_make(void) {
  struct block *first = __atomic_load_n(&newest_block, __ATOMIC_ACQUIRE);
  for (struct block *block = first; block != NULL; block = block->next) {
    struct tarn_context *found = find_free(block);
    if (found != NULL) return found;
  }
  // The page of the block must be found from a context in it.
  size_t length = 2 * page_bytes;
  char *room = mmap(NULL, 2 * length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return NULL;
  char *start = (char *)(((uintptr_t)room + length - 1) & ~(uintptr_t)(length - 1));
  if (start > room) munmap(room, (size_t)(start - room));
  munmap(start + length, (size_t)(room + 2 * length - (start + length)));
  struct block *made = (struct block *)start;
  if (kernel_clears && madvise(contexts_of(made), page_bytes, MADV_WIPEONFORK) != 0) {
    munmap(made, length);
    return NULL;
  }
  made->used[0] = 1;
  made->next = first;
  while (!__atomic_compare_exchange_n(&newest_block, &made->next, made, false, __ATOMIC_RELEASE,
                                      __ATOMIC_ACQUIRE))
    continue;
  return (struct tarn_context *)contexts_of(made);
}

void tarn_context_free(struct tarn_context *context) {
  size_t length = 2 * page_bytes;
  struct block *block = (struct block *)((uintptr_t)context & ~(uintptr_t)(length - 1));
  size_t index = (size_t)((char *)context - contexts_of(block)) / CONTEXT_BYTES;
  __atomic_fetch_and(&block->used[index / CONTEXTS_A_WORD],
                     ~(UINT64_C(1) << index % CONTEXTS_A_WORD), __ATOMIC_RELEASE);
}

// For a kernel that does not.
static void clear_contexts(void) {
  for (struct block *block = newest_block; block != NULL; block = block->next)
    memset(contexts_of(block), 0, page_bytes);
}

// ---- what a fork waits for ------------------------------------------------------------------

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t counted = PTHREAD_COND_INITIALIZER;
// The number of busy threads and of forking ones. A thread that becomes busy waits for forks.
static int busy, forking;
// How often the thread has begun to be busy. One that sleeps is not counted meanwhile.
static _Thread_local int sections;

void tarn_thread_busy(void) {
  pthread_mutex_lock(&counting);
  while (forking > 0) pthread_cond_wait(&counted, &counting);
  busy++;
  pthread_mutex_unlock(&counting);
}

void tarn_thread_resting(void) {
  pthread_mutex_lock(&counting);
  busy--;
  if (forking > 0) pthread_cond_broadcast(&counted);
  pthread_mutex_unlock(&counting);
}

void tarn_thread_begin(void) { sections = 1; }

void tarn_section_begin(void) {
  if (sections++ == 0) tarn_thread_busy();
}

void tarn_section_end(void) {
  if (--sections == 0) tarn_thread_resting();
}

enum { HELD_LOCKS = 64 };
static uint32_t *locks[HELD_LOCKS];
static int lock_count;
// A bit for each lock that this thread has taken to fork.
static _Thread_local uint64_t taken;

void tarn_hold_over_forks(void *word) {
  int index = __atomic_fetch_add(&lock_count, 1, __ATOMIC_RELAXED);
  if (index < HELD_LOCKS) __atomic_store_n(&locks[index], word, __ATOMIC_RELEASE);
}

// Whether the time has passed, on the monotonic clock.
static bool is_past(const struct timespec *limit) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > limit->tv_sec ||
         (now.tv_sec == limit->tv_sec && now.tv_nsec >= limit->tv_nsec);
}

// Takes the locks of the process, in the same order in each thread. No thread takes another lock
// while it holds one of them.
static void take_locks(const struct timespec *limit) {
  taken = 0;
  for (int i = 0; i < HELD_LOCKS; i++) {
    uint32_t *word = __atomic_load_n(&locks[i], __ATOMIC_ACQUIRE);
    if (word == NULL) continue;
    bool is_taken = tarn_lock_try(word);
    for (; !is_taken && !is_past(limit); is_taken = tarn_lock_try(word)) sched_yield();
    if (is_taken) taken |= UINT64_C(1) << i;
  }
}

// Releases the locks that this thread has taken.
static void release_locks(void) {
  for (; taken != 0; taken &= taken - 1) {
    uint32_t *word = locks[__builtin_ctzll(taken)];
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) != tarn_lock_held()) tarn_lock_wake(word);
  }
}

// Runs in the forking thread, before it forks.
static void before_fork(void) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += 1;
  pthread_mutex_lock(&counting);
  forking++;
  int own = sections > 0, result = 0;
  while (busy > own && result != ETIMEDOUT)
    result = pthread_cond_clockwait(&counted, &counting, CLOCK_MONOTONIC, &limit);
  pthread_mutex_unlock(&counting);
  take_locks(&limit);
}

// Runs in the forking thread, after it has forked.
static void after_fork(void) {
  release_locks();
  pthread_mutex_lock(&counting);
  if (--forking == 0) pthread_cond_broadcast(&counted);
  pthread_mutex_unlock(&counting);
}

// Another thread of the parent may have been counting.
static void start_child(bool is_unprepared) {
  __atomic_fetch_add(&tarn_fork_count_, 1, __ATOMIC_RELAXED);
  // Frees every lock.
  __atomic_fetch_add(&tarn_lock_held_, 2, __ATOMIC_RELAXED);
  close_in_child();
  if (!kernel_clears) clear_contexts();
  counting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  counted = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  busy = sections > 0;
  forking = 0;
  __atomic_store_n(&unprepared, is_unprepared, __ATOMIC_RELAXED);
  // Last: a thread that sees the mark sees the rest as well.
  __atomic_store_n(tarn_fork_mark_, 1, __ATOMIC_RELEASE);
}

// Runs first in each forked child.
static void in_child(void) { start_child(false); }

void tarn_notice_fork(void) {
  uint32_t unknown = 0;
  if (__atomic_compare_exchange_n(tarn_fork_mark_, &unknown, 2, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE))
    return start_child(true);
  while (__atomic_load_n(tarn_fork_mark_, __ATOMIC_ACQUIRE) != 1) sched_yield();
}

bool tarn_forked_unprepared(void) {
  tarn_fork_count();
  return __atomic_load_n(&unprepared, __ATOMIC_RELAXED);
}

// Runs before main. If the kernel does not clear pages, only the C library's fork is noticed.
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork, in_child);
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  *(uint32_t *)page = 1;
  kernel_clears = madvise(page, page_bytes, MADV_WIPEONFORK) == 0;
  if (kernel_clears) tarn_fork_mark_ = page;
}
