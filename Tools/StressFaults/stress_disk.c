// These functions replace libc's in the whole process: those that change a file or a name.

#define _GNU_SOURCE
#include "faults.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// LMDB writes the headers, the first two pages, always from the same field: after the page's own 16
// bytes and the three numbers that never change. It writes nothing else there.
static bool is_header(off_t offset) {
  off_t page = sysconf(_SC_PAGESIZE);
  return offset == 32 || offset == page + 32;
}

// LMDB writes one page with `pwrite`, and several adjacent ones with `writev`; shorter writes are
// the signal file's.
static ssize_t written_at(
  enum fate fate, int fd, const void *bytes, size_t count, off_t offset
) {
  if (fate == fails) return -1;
  if (fate == halves) count = (count + 1) / 2;
  bool header = is_header(offset);
  if (header ? step_fails(stress_header) : count >= 4096 && step_fails(stress_pages)) return -1;
  bool is_traced = trace_enter();
  ssize_t written = syscall(SYS_pwrite64, fd, bytes, count, offset);
  if (is_traced) {
    struct iovec piece = {(void *)bytes, count};
    trace_write(fd, &piece, 1, written, offset);
    trace_leave();
  }
  void (*hook)(void) = hook_after_header();
  if (hook && written == (ssize_t)count && header) hook();
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  return written_at(FATE(stress_writing), fd, bytes, count, offset);
}

// The same under the name that a library with large-file support uses.
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
  return written_at(FATE(stress_writing), fd, bytes, count, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  enum fate fate = FATE(stress_writing);
  if (fate == fails || step_fails(stress_pages)) return -1;
  struct iovec half = {pieces->iov_base, (pieces->iov_len + 1) / 2};
  if (fate == halves) {
    pieces = &half;
    count = 1;
  }
  bool is_traced = trace_enter();
  off_t offset = is_traced ? lseek(fd, 0, SEEK_CUR) : 0;
  ssize_t written = syscall(SYS_writev, fd, pieces, count);
  if (is_traced) {
    if (offset >= 0) trace_write(fd, pieces, count, written, offset);
    trace_leave();
  }
  return written;
}

static int synced(int fd, long call) {
  bool is_traced = trace_enter();
  int result = (int)syscall(call, fd);
  if (is_traced) {
    if (result == 0) trace_sync(fd);
    trace_leave();
  }
  return result;
}

int fdatasync(int fd) {
  enum fate fate = FATE(stress_syncing);
  void (*hook)(void) = hook_before_sync();
  if (hook) hook();
  return fate == fails || step_fails(stress_sync) ? -1 : synced(fd, SYS_fdatasync);
}

int fsync(int fd) { return FAILS(stress_syncing) ? -1 : synced(fd, SYS_fsync); }

static int allocated(int fd, int mode, off_t offset, off_t length) {
  bool is_traced = trace_enter();
  int result = (int)syscall(SYS_fallocate, fd, mode, offset, length);
  if (is_traced) {
    if (result == 0 && mode == 0) trace_size(fd, offset + length, false);
    trace_leave();
  }
  return result;
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
  return FAILS(stress_allocating) ? -1 : allocated(fd, mode, offset, length);
}

int fallocate64(int fd, int mode, off_t offset, off_t length) {
  return FAILS(stress_allocating) ? -1 : allocated(fd, mode, offset, length);
}

static int truncated(int fd, off_t length) {
  bool is_traced = trace_enter();
  int result = (int)syscall(SYS_ftruncate, fd, length);
  if (is_traced) {
    if (result == 0) trace_size(fd, length, true);
    trace_leave();
  }
  return result;
}

int ftruncate(int fd, off_t length) {
  return FAILS(stress_allocating) ? -1 : truncated(fd, length);
}

int ftruncate64(int fd, off_t length) {
  return FAILS(stress_allocating) ? -1 : truncated(fd, length);
}

// MARK: - Names

static int linked(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  bool is_traced = trace_enter();
  int result = (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  if (is_traced) {
    if (result == 0) trace_name(to);
    trace_leave();
  }
  return result;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  return FAILS(stress_naming) ? -1 : linked(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to) {
  return FAILS(stress_naming) ? -1 : linked(AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int renamed(const char *from, const char *to, unsigned flags) {
  bool is_traced = trace_enter();
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
  if (is_traced) {
    if (result == 0) trace_rename(from, to);
    trace_leave();
  }
  return result;
}

int rename(const char *from, const char *to) {
  return FAILS(stress_naming) ? -1 : renamed(from, to, 0);
}

// Of this program, both folders are always the current one.
int renameat2(
  int from_folder, const char *from, int to_folder, const char *to, unsigned flags
) {
  (void)from_folder, (void)to_folder;
  return FAILS(stress_naming) ? -1 : renamed(from, to, flags);
}

int unlink(const char *path) {
  if (FAILS(stress_passing)) return -1;
  bool is_traced = trace_enter();
  int result = (int)syscall(SYS_unlink, path);
  if (is_traced) {
    if (result == 0) trace_unname(path);
    trace_leave();
  }
  return result;
}

int rmdir(const char *path) {
  return FAILS(stress_passing) ? -1 : (int)syscall(SYS_rmdir, path);
}

int symlink(const char *target, const char *path) {
  return FAILS(stress_passing) ? -1 : (int)syscall(SYS_symlink, target, path);
}

char *mkdtemp(char *template) {
  if (FAILS(stress_passing)) return NULL;
  return NEXT(mkdtemp)(template);
}

int mkostemp(char *template, int flags) {
  if (FAILS(stress_passing)) return -1;
  return NEXT(mkostemp)(template, flags);
}
