#include "stress_faults.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void (*_Atomic after_header_write)(void);

void stress_after_header_write(void (*hook)(void)) { atomic_store(&after_header_write, hook); }

// The first two pages of a data file are headers, and only they begin with this number, behind 16
// bytes that every page has.
static bool is_header(int fd, off_t offset) {
  uint32_t magic = 0;
  return offset < 2 * (off_t)sysconf(_SC_PAGESIZE) &&
         pread(fd, &magic, sizeof magic, 16) == sizeof magic && magic == 0xBEEFC0DE;
}

// Takes the place of libc's, for the whole process.
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  ssize_t written = syscall(SYS_pwrite64, fd, bytes, count, offset);
  void (*hook)(void) = atomic_load(&after_header_write);
  if (hook && written == (ssize_t)count && is_header(fd, offset)) hook();
  return written;
}

// The same under the name that a library built for large files asks for.
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
  return pwrite(fd, bytes, count, offset);
}
