#define _GNU_SOURCE
#include "ctarn_thread.h"
#include "ctarn_fork.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// Declared by Dispatch, which Swift links. Its overlay exposes queue labels, but not the current
// queue.
const char *dispatch_queue_get_label(void *queue);

const char *tarn_queue_label(void) { return dispatch_queue_get_label(0); }

// Most locks are held for less time than falling asleep takes.
enum { LOOKS = 100 };

// Tells the processor that this thread is spinning.
static inline void pause_looking(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

bool tarn_lock_try(void *word) {
  uint32_t *state = word;
  const uint32_t held = tarn_lock_held();
  uint32_t seen = __atomic_load_n(state, __ATOMIC_RELAXED);
  if (seen == held || seen == held + 1) return false;
  bool is_new = seen == tarn_lock_new;
  if (!__atomic_compare_exchange_n(state, &seen, held, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return false;
  if (is_new) tarn_hold_over_forks(word);
  return true;
}

void tarn_lock_wait(void *word) {
  uint32_t *state = word;
  const uint32_t held = tarn_lock_held(), sleeping = held + 1;
  for (int i = 0; i < LOOKS; i++) {
    // Other threads sleep already: waiting instead of spinning gives them their turn.
    if (__atomic_load_n(state, __ATOMIC_RELAXED) == sleeping) break;
    if (tarn_lock_try(word)) return;
    pause_looking();
  }
  for (;;) {
    uint32_t before = __atomic_exchange_n(state, sleeping, __ATOMIC_ACQUIRE);
    if (before != held && before != sleeping) return;
    syscall(SYS_futex, state, FUTEX_WAIT_PRIVATE, sleeping, NULL, NULL, 0);
  }
}

void tarn_lock_wake(void *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#if __has_feature(thread_sanitizer)
// Of the sanitizer's runtime; no header declares it.
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

void tarn_unchecked_begin(void) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

void tarn_unchecked_end(void) {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#else
void tarn_unchecked_begin(void) {}
void tarn_unchecked_end(void) {}
#endif
