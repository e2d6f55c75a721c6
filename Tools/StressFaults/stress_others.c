// These functions replace libc's in the whole process: those that change nothing on a disk, or only
// by creating a file.

#define _GNU_SOURCE
#include "faults.h"
#include "trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t part(enum fate fate, size_t count) {
  return fate == halves ? (count + 1) / 2 : count;
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
  enum fate fate = FATE(stress_reading);
  return fate == fails ? -1 : syscall(SYS_pread64, fd, bytes, part(fate, count), offset);
}

ssize_t pread64(int fd, void *bytes, size_t count, off_t offset) {
  enum fate fate = FATE(stress_reading);
  return fate == fails ? -1 : syscall(SYS_pread64, fd, bytes, part(fate, count), offset);
}

ssize_t read(int fd, void *bytes, size_t count) {
  enum fate fate = FATE(stress_reading);
  return fate == fails ? -1 : syscall(SYS_read, fd, bytes, part(fate, count));
}

int fstat(int fd, struct stat *facts) {
  return FAILS(stress_asking) ? -1 : NEXT(fstat)(fd, facts);
}

int stat(const char *path, struct stat *facts) {
  return FAILS(stress_asking) ? -1 : NEXT(stat)(path, facts);
}

int lstat(const char *path, struct stat *facts) {
  return FAILS(stress_asking) ? -1 : NEXT(lstat)(path, facts);
}

int fstatvfs(int fd, struct statvfs *facts) {
  return FAILS(stress_asking) ? -1 : NEXT(fstatvfs)(fd, facts);
}

DIR *opendir(const char *path) {
  return FAILS(stress_asking) ? NULL : NEXT(opendir)(path);
}

char *realpath(const char *path, char *resolved) {
  return FAILS(stress_asking) ? NULL : NEXT(realpath)(path, resolved);
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE && refuses_nameless()) {
    errno = EOPNOTSUPP;
    return -1;
  }
  bool is_traced = flags & O_CREAT && trace_enter();
  bool is_new = is_traced && syscall(SYS_faccessat, folder, path, F_OK) != 0;
  int fd = (int)syscall(SYS_openat, folder, seen_path(path), flags, mode);
  if (is_traced) {
    if (fd >= 0 && is_new) trace_name(path);
    trace_leave();
  }
  return fd;
}

#define MODE(flags)                                                                                \
  mode_t mode = 0;                                                                                 \
  if (flags & (O_CREAT | O_TMPFILE)) {                                                             \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode = va_arg(rest, mode_t);                                                                   \
    va_end(rest);                                                                                  \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return FAILS(stress_describing) ? -1 : opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags)
  return FAILS(stress_describing) ? -1 : opened(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  MODE(flags)
  return FAILS(stress_describing) ? -1 : opened(folder, path, flags, mode);
}

int memfd_create(const char *name, unsigned flags) {
  return FAILS(stress_describing) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int inotify_init1(int flags) {
  return FAILS(stress_describing) ? -1 : (int)syscall(SYS_inotify_init1, flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t events) {
  return FAILS(stress_watching) ? -1 : (int)syscall(SYS_inotify_add_watch, fd, path, events);
}

int eventfd(unsigned value, int flags) {
  return FAILS(stress_describing) ? -1 : (int)syscall(SYS_eventfd2, value, flags);
}

static int controlled(int fd, int command, long argument, const void *caller) {
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      if (fate_of(stress_describing, caller) == fails) return -1;
      break;
    case F_SETLK:
    case F_SETLKW:
    case F_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
    case F_OFD_GETLK:
      // Releasing exactly what is held needs nothing, so it cannot fail.
      if (((struct flock *)argument)->l_type == F_UNLCK) break;
      if (fate_of(stress_locking, caller) == fails) return -1;
      break;
    default: break;
  }
  return (int)syscall(SYS_fcntl, fd, command, argument);
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  long argument = va_arg(rest, long);
  va_end(rest);
  return controlled(fd, command, argument, __builtin_return_address(0));
}

int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  long argument = va_arg(rest, long);
  va_end(rest);
  return controlled(fd, command, argument, __builtin_return_address(0));
}

int flock(int fd, int operation) {
  bool releases = operation & LOCK_UN;
  return !releases && FAILS(stress_locking) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

// The sanitizers replace these themselves.
#ifndef SANITIZED

void *mmap(void *at, size_t count, int protection, int flags, int fd, off_t offset) {
  if (FAILS(stress_mapping)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, count, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t count, int protection, int flags, int fd, off_t offset) {
  if (FAILS(stress_mapping)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, count, protection, flags, fd, offset);
}

int pthread_create(
  pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument
) {
  if (FAILS(stress_starting)) return errno;
  return NEXT(pthread_create)(thread, attributes, body, argument);
}

#endif
