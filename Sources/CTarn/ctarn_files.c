#define _GNU_SOURCE
#include "ctarn_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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

int tarn_effective_access(const char *path, int rights) {
  // The kernel's call: the C library's own emulation does not know access lists.
  if (syscall(SYS_faccessat2, AT_FDCWD, path, rights, AT_EACCESS) == 0) return 0;
  // Old kernels and filters of system calls do not have it. Whether a filter refused it with EPERM
  // shows the current folder, which may always be looked for.
  if (errno == ENOSYS) return 0;
  int problem = errno;
  bool is_filtered = problem == EPERM && syscall(SYS_faccessat2, AT_FDCWD, ".", F_OK, 0) != 0
    && errno == EPERM;
  return is_filtered ? 0 : problem;
}

const char *tarn_trusted_variable(const char *name) { return secure_getenv(name); }

// Whether inodes of files in such a file system are the same as long as the files exist.
static bool keeps_inodes(const struct statfs *facts) {
  switch ((unsigned long)facts->f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC: return true;
    default: return false;
  }
}

bool tarn_file_birth(int fd, uint64_t *inode, int64_t *seconds, uint32_t *nanoseconds) {
  struct statfs system;
  struct statx facts;
  if (fstatfs(fd, &system) != 0 || !keeps_inodes(&system)) return false;
  unsigned wanted = STATX_INO | STATX_BTIME;
  if (statx(fd, "", AT_EMPTY_PATH, wanted, &facts) != 0) return false;
  if ((facts.stx_mask & wanted) != wanted) return false;
  *inode = facts.stx_ino;
  *seconds = facts.stx_btime.tv_sec;
  *nanoseconds = facts.stx_btime.tv_nsec;
  return true;
}

uint64_t tarn_mount_number(int fd) {
  const unsigned unique = 0x4000;  // STATX_MNT_ID_UNIQUE, which older headers lack.
  struct statx facts;
  for (unsigned wanted = unique; wanted; wanted = wanted == unique ? STATX_MNT_ID : 0) {
    if (statx(fd, "", AT_EMPTY_PATH, wanted, &facts) == 0 && (facts.stx_mask & wanted)) {
      return facts.stx_mnt_id;
    }
  }
  return 0;
}

void tarn_write_in_place(int fd) {
  struct statfs system;
  int flags;
  if (fstatfs(fd, &system) != 0 || (unsigned long)system.f_type != BTRFS_SUPER_MAGIC) return;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  ioctl(fd, FS_IOC_SETFLAGS, &flags);
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
