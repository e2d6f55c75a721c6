#define _GNU_SOURCE
#include "ctarn_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int tarn_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int tarn_nameless_file(const char *folder, uint32_t mode) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int tarn_temporary_file(char *path) { return mkostemp(path, O_CLOEXEC); }

int tarn_file_reference(const char *path) { return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC); }

int tarn_rename_to_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int tarn_above_standard(int fd) {
  if (fd < 0 || fd > 2) return fd;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  int problem = errno;
  close(fd);
  errno = problem;
  return copy;
}

// Is the descriptor number unused?
static bool is_closed(int fd) { return fcntl(fd, F_GETFD) < 0; }

int tarn_occupy_standard(void) {
  while (is_closed(0) || is_closed(1) || is_closed(2)) {
    // Also for child programs: not close-on-exec.
    int fd = open("/dev/null", O_RDWR);
    if (fd < 0) return errno;
    // Another thread was faster.
    if (fd > 2) close(fd);
  }
  return 0;
}
