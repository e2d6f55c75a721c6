#ifndef CTARN_SHARED_H
#define CTARN_SHARED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Memory that several processes map, and locks that belong to a descriptor. Swift's own atomics
// live inside Swift values and cannot be laid over mapped bytes, and variadic calls (fcntl with a
// struct, syscall) are not imported at all.

// ---- atomics over mapped bytes ---------------------------------------------------------------
// All sequentially consistent: what one process wrote before, another sees after. The numbers must
// lie on multiples of their size. `add` answers what was there before.
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
// Raises the number to `value` unless it is that high already; true if it was raised here.
static inline bool tarn_raise64(void *p, uint64_t value) {
  uint64_t seen = tarn_load64(p);
  while (seen < value) {
    if (__atomic_compare_exchange_n((uint64_t *)p, &seen, value, true, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return true;
  }
  return false;
}

// Sleeps while *p is `expected`, at most that long. Wakes early for no reason at times.
void tarn_futex_wait(const void *p, uint32_t expected, int64_t nanoseconds);
// Wakes up to `count` sleepers in any process.
void tarn_futex_wake(const void *p, int count);

// A descriptor that is readable after 8 bytes (a number that is not zero) were written to it; not
// blocking, close-on-exec. -1 if there is none left.
int tarn_event(void);
// The calling thread's name in lists of threads, at most 15 bytes.
void tarn_name_thread(const char *name);

// ---- locks that belong to a descriptor, not to the process (OFD) ----------------------------
// They die with the last copy of the open description, whoever closes other descriptors of the
// same file, and say the truth across pid namespaces. All return 0 or an errno.
int tarn_lock_shared(int fd, int64_t start, int64_t length);
int tarn_lock_exclusive(int fd, int64_t start, int64_t length);
int tarn_unlock(int fd, int64_t start, int64_t length);
// Does another description, or another process, hold a lock that an exclusive one of ours would
// collide with? -1 if the kernel cannot say, 0 for none, 1 for a shared lock, 2 for an exclusive
// one.
int tarn_is_locked_elsewhere(int fd, int64_t start, int64_t length);
// Takes a shared lock on one byte that belongs to the process (POSIX). An exclusive one that the
// process holds there becomes this one in one step, whichever descriptor took it.
int tarn_lock_shared_as_process(int fd, int64_t start);

// Makes the file at least that long; never shortens it, whoever grows it at the same time.
int tarn_extend(int fd, int64_t length);

// Allocates every byte of the file on the disk; a file that is shorter becomes `length` bytes
// long. 0, also where the file system can only do the latter, or an errno.
int tarn_allocate(int fd, int64_t length);

// ---- fault points ---------------------------------------------------------------------------

extern bool tarn_faults_armed_;
// Does any fault point have to look what it should do? Off until somebody arms them, for good.
static inline bool tarn_faults_armed(void) {
  return __atomic_load_n(&tarn_faults_armed_, __ATOMIC_RELAXED);
}
void tarn_arm_faults(void);
#endif
