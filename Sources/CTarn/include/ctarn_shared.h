#ifndef CTARN_SHARED_H
#define CTARN_SHARED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Memory that several processes map, and locks that belong to a descriptor. Swift's own atomics
// live inside Swift values and cannot be placed over mapped bytes, and variadic functions (fcntl
// with a struct, syscall) are not imported.

// ---- atomics over mapped bytes ---------------------------------------------------------------
// All sequentially consistent: a process that reads a value sees everything written before it. The
// numbers must be naturally aligned. `add` returns the old value.
static inline uint32_t tarn_load32(const void *p) {
  return __atomic_load_n((const uint32_t *)p, __ATOMIC_SEQ_CST);
}
static inline uint64_t tarn_load64(const void *p) {
  return __atomic_load_n((const uint64_t *)p, __ATOMIC_SEQ_CST);
}
static inline void tarn_store32(void *p, uint32_t value) {
  __atomic_store_n((uint32_t *)p, value, __ATOMIC_SEQ_CST);
}
static inline void tarn_store64(void *p, uint64_t value) {
  __atomic_store_n((uint64_t *)p, value, __ATOMIC_SEQ_CST);
}
static inline uint32_t tarn_add32(void *p, uint32_t value) {
  return __atomic_fetch_add((uint32_t *)p, value, __ATOMIC_SEQ_CST);
}
static inline uint64_t tarn_add64(void *p, uint64_t value) {
  return __atomic_fetch_add((uint64_t *)p, value, __ATOMIC_SEQ_CST);
}
static inline bool tarn_swap_if64(void *p, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n((uint64_t *)p, &expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}
// Raises the number to `value` unless it is that high already; true if this call raised it.
static inline bool tarn_raise64(void *p, uint64_t value) {
  uint64_t seen = tarn_load64(p);
  while (seen < value) {
    if (__atomic_compare_exchange_n((uint64_t *)p, &seen, value, true, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return true;
  }
  return false;
}

// Sleeps while *p is `expected`, at most that long. May wake spuriously.
void tarn_futex_wait(const void *p, uint32_t expected, int64_t nanoseconds);
// Wakes up to `count` sleepers in any process.
void tarn_futex_wake(const void *p, int count);

// A word to sleep on, and its value when the sleeper looked.
struct tarn_bell {
  const void *word;
  uint32_t seen;
};
// As many words as Linux lets a thread sleep on.
enum { tarn_bells_max = 128 };
// Sleeps until one of the words is woken, at most until that time of the monotonic clock; not at
// all if one has another value. False if the kernel has no such call (before 5.16).
bool tarn_futex_wait_any(const struct tarn_bell *bells, int count, uint64_t until_nanoseconds);

// A descriptor that becomes readable when 8 bytes (a nonzero number) are written to it;
// non-blocking, close-on-exec. -1 if no descriptor is left.
int tarn_event(void);
// Sets the calling thread's name in lists of threads, at most 15 bytes.
void tarn_name_thread(const char *name);

// ---- locks that belong to a descriptor, not to the process (OFD) ----------------------------
// They are released with the last copy of the open file description, whatever other descriptors of
// the file are closed, and work across pid namespaces. All return 0 or an errno.
int tarn_lock_shared(int fd, int64_t start, int64_t length);
int tarn_lock_exclusive(int fd, int64_t start, int64_t length);
int tarn_unlock(int fd, int64_t start, int64_t length);
// Does another file description, or another process, hold a lock that would conflict with an
// exclusive one here? -1 if the kernel cannot say, 0 for none, 1 for a shared lock, 2 for an
// exclusive one.
int tarn_is_locked_elsewhere(int fd, int64_t start, int64_t length);
// Takes a shared lock on one byte that belongs to the process (POSIX). An exclusive lock of the
// process there is converted atomically, even if another descriptor took it.
int tarn_lock_shared_as_process(int fd, int64_t start);

// Grows the file to at least that length; never shortens it, even if others grow it meanwhile.
int tarn_extend(int fd, int64_t length);

// Allocates every byte of the file on disk; a shorter file is extended to `length` bytes. 0, also
// if the file system can only extend it, or an errno.
int tarn_allocate(int fd, int64_t length);

// ---- fault points ---------------------------------------------------------------------------

extern bool tarn_faults_armed_;
// Do fault points need to check whether to act? False until they are armed, which is permanent.
static inline bool tarn_faults_armed(void) {
  return __atomic_load_n(&tarn_faults_armed_, __ATOMIC_RELAXED);
}
void tarn_arm_faults(void);
#endif
