#include "stress_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
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

static _Atomic int call_count;
static _Atomic int failing_call;

void stress_fail_call(int number, int error_number) {
  atomic_store(&failing_number, error_number);
  atomic_store(&failing_call, number);
  atomic_store(&call_count, 0);
}

int stress_calls(void) { return atomic_load(&call_count); }

// Counts a call. True if it is the one that is to fail.
static bool call_fails(void) {
  int number = atomic_fetch_add(&call_count, 1) + 1;
  if (number != atomic_load(&failing_call)) return false;
  errno = atomic_load(&failing_number);
  return true;
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
  if (call_fails()) return -1;
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
  if (call_fails() || fails(stress_pages)) return -1;
  return syscall(SYS_writev, fd, pieces, count);
}

int fdatasync(int fd) {
  void (*hook)(void) = atomic_load(&before_sync);
  if (hook) hook();
  if (call_fails() || fails(stress_sync)) return -1;
  return (int)syscall(SYS_fdatasync, fd);
}

// The other calls by which a copy gets its room, is synced and gets its name.
int fsync(int fd) { return call_fails() ? -1 : (int)syscall(SYS_fsync, fd); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
  return call_fails() ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int fallocate64(int fd, int mode, off_t offset, off_t length) {
  return fallocate(fd, mode, offset, length);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  if (call_fails()) return -1;
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int rename(const char *from, const char *to) {
  return call_fails() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
