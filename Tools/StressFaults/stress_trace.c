#define _GNU_SOURCE
#include "stress_trace.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_tracing;
static int trace = -1;
static dev_t device;
static _Atomic bool nameless_refused;

void stress_refuse_nameless(bool refuses) { atomic_store(&nameless_refused, refuses); }
bool refuses_nameless(void) { return atomic_load(&nameless_refused); }

bool trace_enter(void) {
  if (!atomic_load(&is_tracing)) return false;
  pthread_mutex_lock(&turn);
  return true;
}

void trace_leave(void) { pthread_mutex_unlock(&turn); }

// An incomplete trace would be taken for a sound one.
static void put(const void *bytes, size_t count) {
  const char *rest = bytes;
  while (count > 0) {
    ssize_t written = syscall(SYS_write, trace, rest, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) abort();
    rest += written;
    count -= (size_t)written;
  }
}

static void put_record(
  enum stress_kind kind, unsigned flags, ino_t inode, off_t offset, size_t byte_count
) {
  struct stress_record record = {kind, flags, inode, (unsigned long long)offset, byte_count};
  put(&record, sizeof record);
}

static bool is_traced(int fd, struct stat *facts) {
  return fstat(fd, facts) == 0 && facts->st_dev == device
    && (S_ISREG(facts->st_mode) || S_ISDIR(facts->st_mode));
}

void trace_write(int fd, const struct iovec *pieces, int count, ssize_t written, off_t offset) {
  int before = errno;
  struct stat facts;
  if (written > 0 && is_traced(fd, &facts)) {
    unsigned flags = fcntl(fd, F_GETFL) & O_DSYNC ? stress_at_once : 0;
    put_record(stress_wrote, flags, facts.st_ino, offset, (size_t)written);
    size_t rest = (size_t)written;
    for (int index = 0; index < count && rest > 0; index++) {
      size_t length = pieces[index].iov_len < rest ? pieces[index].iov_len : rest;
      put(pieces[index].iov_base, length);
      rest -= length;
    }
  }
  errno = before;
}

void trace_size(int fd, off_t byte_count, bool may_shrink) {
  int before = errno;
  struct stat facts;
  if (is_traced(fd, &facts)) {
    put_record(may_shrink ? stress_sized : stress_extended, 0, facts.st_ino, byte_count, 0);
  }
  errno = before;
}

void trace_sync(int fd) {
  int before = errno;
  struct stat facts;
  if (is_traced(fd, &facts)) {
    unsigned flags = S_ISDIR(facts.st_mode) ? stress_folder : 0;
    put_record(stress_synced, flags, facts.st_ino, 0, 0);
  }
  errno = before;
}

static void put_names(
  enum stress_kind kind, unsigned flags, ino_t inode, const char *path, const char *second
) {
  size_t length = strlen(path) + 1;
  size_t more = second ? strlen(second) + 1 : 0;
  put_record(kind, flags, inode, 0, length + more);
  put(path, length);
  if (second) put(second, more);
}

void trace_name(const char *path) {
  int before = errno;
  struct stat facts;
  if (lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_dev == device) {
    put_names(stress_named, 0, facts.st_ino, path, NULL);
  }
  errno = before;
}

void trace_unname(const char *path) { put_names(stress_unnamed, 0, 0, path, NULL); }

void trace_rename(const char *from, const char *to) {
  int before = errno;
  struct stat facts;
  if (lstat(to, &facts) == 0 && facts.st_dev == device) {
    put_names(stress_renamed, 0, facts.st_ino, from, to);
  }
  errno = before;
}

int stress_trace_begin(const char *folder, const char *path) {
  struct stat facts;
  if (stat(folder, &facts) != 0) return errno;
  device = facts.st_dev;
  trace = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (trace < 0) return errno;
  atomic_store(&is_tracing, true);
  return 0;
}

// The pieces of the file that have bytes: it may have holes.
static int put_contents(int fd, const struct stat *facts) {
  char bytes[4096];
  off_t start = 0;
  while ((start = lseek(fd, start, SEEK_DATA)) >= 0) {
    off_t end = lseek(fd, start, SEEK_HOLE);
    while (start < end) {
      ssize_t count = pread(fd, bytes, sizeof bytes, start);
      if (count <= 0) return count < 0 ? errno : EIO;
      put_record(stress_wrote, stress_before, facts->st_ino, start, (size_t)count);
      put(bytes, (size_t)count);
      start += count;
    }
  }
  if (errno != ENXIO) return errno;
  put_record(stress_sized, stress_before, facts->st_ino, facts->st_size, 0);
  return 0;
}

int stress_trace_file(const char *path, bool is_named) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat facts;
  pthread_mutex_lock(&turn);
  int result = fstat(fd, &facts) != 0 ? errno : put_contents(fd, &facts);
  if (result == 0) {
    put_names(stress_named, is_named ? stress_before : 0, facts.st_ino, path, NULL);
  }
  pthread_mutex_unlock(&turn);
  close(fd);
  return result;
}

void stress_trace_note(const char *text) {
  pthread_mutex_lock(&turn);
  put_names(stress_noted, 0, 0, text, NULL);
  pthread_mutex_unlock(&turn);
}

void stress_trace_pause(void) { atomic_store(&is_tracing, false); }
void stress_trace_continue(void) { atomic_store(&is_tracing, true); }
