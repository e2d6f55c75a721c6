#define _GNU_SOURCE
#include "stress_setting.h"
#include "faults.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int stress_become(unsigned int user) {
  if (setgroups(0, NULL) || setresgid(user, user, user)) return errno;
  if (setresuid(user, user, user)) return errno;
  // Otherwise its own files in /proc belong to root.
  return prctl(PR_SET_DUMPABLE, 1) ? errno : 0;
}

int stress_keep_mounts(void) {
  if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return errno;
  return 0;
}

int stress_fork(void) { return fork(); }

static _Atomic bool is_restarted;

void stress_restart_system(void) { atomic_store(&is_restarted, true); }

const char *seen_path(const char *path) {
  bool is_other = atomic_load(&is_restarted) && !strcmp(path, "/proc/sys/kernel/random/boot_id");
  return is_other ? "/proc/sys/kernel/random/uuid" : path;
}

static _Atomic long long seconds_ahead;

void stress_jump_clock(long long seconds) { atomic_store(&seconds_ahead, seconds); }

// These replace libc's functions in the whole process.
int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += atomic_load(&seconds_ahead);
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
