#define _GNU_SOURCE
#include "ctarn_shared.h"
#include "ctarn_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

void tarn_futex_wait(const void *p, uint32_t expected, int64_t nanoseconds) {
  struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  syscall(SYS_futex, p, FUTEX_WAIT, expected, &limit, NULL, 0);
}

void tarn_futex_wake(const void *p, int count) {
  syscall(SYS_futex, p, FUTEX_WAKE, count, NULL, NULL, 0);
}

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

bool tarn_futex_wait_any(const struct tarn_bell *bells, int count, uint64_t until_nanoseconds) {
  // The kernel's struct futex_waitv, which older headers do not have.
  struct {
    uint64_t seen, word;
    uint32_t flags, reserved;
  } waits[tarn_bells_max];
  enum { WORD_OF_32_BITS = 2 };
  if (count > tarn_bells_max) return false;
  for (int i = 0; i < count; i++) {
    waits[i].seen = bells[i].seen;
    waits[i].word = (uintptr_t)bells[i].word;
    waits[i].flags = WORD_OF_32_BITS;
    waits[i].reserved = 0;
  }
  struct timespec limit = {(time_t)(until_nanoseconds / 1000000000),
                           (long)(until_nanoseconds % 1000000000)};
  long result = syscall(SYS_futex_waitv, waits, count, 0, &limit, CLOCK_MONOTONIC);
  return result >= 0 || errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
}

int tarn_event(void) { return tarn_above_standard(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

void tarn_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// One lock call on a range of bytes, repeated if signals interrupt it.
static int lock(int fd, int command, short type, int64_t start, int64_t length) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  int result;
  do {
    result = fcntl(fd, command, &range);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

int tarn_lock_shared(int fd, int64_t start, int64_t length) {
  return lock(fd, F_OFD_SETLK, F_RDLCK, start, length);
}
int tarn_lock_exclusive(int fd, int64_t start, int64_t length) {
  return lock(fd, F_OFD_SETLK, F_WRLCK, start, length);
}
int tarn_unlock(int fd, int64_t start, int64_t length) {
  return lock(fd, F_OFD_SETLK, F_UNLCK, start, length);
}

int tarn_is_locked_elsewhere(int fd, int64_t start, int64_t length) {
  struct flock range = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  if (fcntl(fd, F_OFD_GETLK, &range) != 0) return -1;
  return range.l_type == F_UNLCK ? 0 : range.l_type == F_RDLCK ? 1 : 2;
}

int tarn_lock_shared_as_process(int fd, int64_t start) {
  return lock(fd, F_SETLK, F_RDLCK, start, 1);
}

int tarn_extend(int fd, int64_t length) {
  // ftruncate would cut off bytes that another process has appended meanwhile.
  return fallocate(fd, 0, length - 1, 1) == 0 ? 0 : errno;
}

int tarn_allocate(int fd, int64_t length) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) return errno;
  bool grows = length > facts.st_size;
  // Growing with fallocate never cuts off bytes that another process appends meanwhile.
  int flags = grows ? 0 : FALLOC_FL_KEEP_SIZE;
  if (fallocate(fd, flags, 0, grows ? length : facts.st_size) == 0) return 0;
  // XFS finds a full disk even if nothing is left to allocate, and tmpfs a limit of the process.
  bool is_allocated = facts.st_blocks * (int64_t)512 >= facts.st_size;
  if ((errno == ENOSPC || errno == EFBIG) && !grows && is_allocated) return 0;
  if (errno != EOPNOTSUPP) return errno;
  return !grows || ftruncate(fd, length) == 0 ? 0 : errno;
}

bool tarn_faults_armed_;
void tarn_arm_faults(void) { __atomic_store_n(&tarn_faults_armed_, true, __ATOMIC_RELAXED); }
