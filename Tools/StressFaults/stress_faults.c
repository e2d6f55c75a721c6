#include "stress_faults.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static void (*_Atomic after_header_write)(void);
static void (*_Atomic before_sync)(void);
static _Atomic int failing_step;
static _Atomic int failing_number;

void stress_after_header_write(void (*hook)(void)) { atomic_store(&after_header_write, hook); }
void stress_before_sync(void (*hook)(void)) { atomic_store(&before_sync, hook); }

void stress_fail_next(enum stress_step step, int error_number) {
  atomic_store(&failing_number, error_number);
  atomic_store(&failing_step, step);
}

static bool fails(enum stress_step step) {
  int wanted = step;
  if (!atomic_compare_exchange_strong(&failing_step, &wanted, 0)) return false;
  errno = atomic_load(&failing_number);
  return true;
}

// LMDB writes the headers, the first two pages, always from the same field: after the page's own 16
// bytes and the three numbers that never change. It writes nothing else there.
static bool is_header(off_t offset) {
  off_t page = sysconf(_SC_PAGESIZE);
  return offset == 32 || offset == page + 32;
}

// These replace libc's functions in the whole process. LMDB writes one page with `pwrite`, and
// several adjacent ones with `writev`; shorter writes are the signal file's.
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  bool header = is_header(offset);
  if (header ? fails(stress_header) : count >= 4096 && fails(stress_pages)) return -1;
  ssize_t written = syscall(SYS_pwrite64, fd, bytes, count, offset);
  void (*hook)(void) = atomic_load(&after_header_write);
  if (hook && written == (ssize_t)count && header) hook();
  return written;
}

// The same under the name that a library with large-file support uses.
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
  return pwrite(fd, bytes, count, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  if (fails(stress_pages)) return -1;
  return syscall(SYS_writev, fd, pieces, count);
}

int fdatasync(int fd) {
  void (*hook)(void) = atomic_load(&before_sync);
  if (hook) hook();
  if (fails(stress_sync)) return -1;
  return (int)syscall(SYS_fdatasync, fd);
}
