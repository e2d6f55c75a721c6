#include "stress_faults.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void (*_Atomic after_header_write)(void);

void stress_after_header_write(void (*hook)(void)) { atomic_store(&after_header_write, hook); }

// LMDB writes the headers, which are the first two pages, from the same field on: behind the page's
// own 16 bytes and the three numbers that never change. Nothing else is written there.
static bool is_header(off_t offset) {
  off_t page = sysconf(_SC_PAGESIZE);
  return offset == 32 || offset == page + 32;
}

// Takes the place of libc's, for the whole process.
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  ssize_t written = syscall(SYS_pwrite64, fd, bytes, count, offset);
  void (*hook)(void) = atomic_load(&after_header_write);
  if (hook && written == (ssize_t)count && is_header(offset)) hook();
  return written;
}

// The same under the name that a library built for large files asks for.
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
  return pwrite(fd, bytes, count, offset);
}
