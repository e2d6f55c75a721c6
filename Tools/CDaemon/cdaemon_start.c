#define _GNU_SOURCE
#include "cdaemon.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { groups_max = 256 };

typedef struct {
  uid_t user;
  gid_t group;
  gid_t groups[groups_max];
  int group_count;
} identity;

static int find_identity(const char *name, identity *found) {
  char buffer[16384];
  struct passwd entry, *result = NULL;
  int code = getpwnam_r(name, &entry, buffer, sizeof buffer, &result);
  if (code) return code;
  if (!result) return ENOENT;
  found->user = entry.pw_uid;
  found->group = entry.pw_gid;
  found->group_count = groups_max;
  if (getgrouplist(name, entry.pw_gid, found->groups, &found->group_count) < 0) return E2BIG;
  return 0;
}

bool tarn_user_exists(const char *name) {
  identity found;
  return find_identity(name, &found) == 0;
}

// More would only cost those that walk through all numbers.
static const rlim_t descriptors_max = 1 << 20;
static struct rlimit given_descriptors;
static bool has_raised;

void tarn_raise_descriptors(void) {
  if (getrlimit(RLIMIT_NOFILE, &given_descriptors)) return;
  struct rlimit wanted = given_descriptors;
  wanted.rlim_cur = wanted.rlim_max < descriptors_max ? wanted.rlim_max : descriptors_max;
  if (wanted.rlim_cur <= given_descriptors.rlim_cur) return;
  has_raised = setrlimit(RLIMIT_NOFILE, &wanted) == 0;
}

// Only calls that are safe between fork and exec.
static int become(const identity *wanted) {
  if (setgroups((size_t)wanted->group_count, wanted->groups)) return errno;
  if (setgid(wanted->group)) return errno;
  if (setuid(wanted->user)) return errno;
  return 0;
}

int tarn_become(const char *user, const gid_t *more, int count) {
  identity wanted;
  int code = find_identity(user, &wanted);
  if (code) return code;
  if (count > groups_max - wanted.group_count) return E2BIG;
  for (int index = 0; index < count; index++) wanted.groups[wanted.group_count++] = more[index];
  return become(&wanted);
}

int tarn_may_as(const char *user, const char *path, int rights) {
  identity wanted;
  int code = find_identity(user, &wanted);
  if (code) return code;
  pid_t child = fork();
  if (child < 0) return errno;
  if (!child) {
    code = become(&wanted);
    if (!code && access(path, rights)) code = errno;
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static void run(
    const char *program, char *const arguments[], char *const environment[],
    const identity *wanted, const int descriptors[3], int report, pid_t parent) {
  setpgid(0, 0);
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int code = 0;
  for (int target = 0; target < 3; target++)
    if (dup2(descriptors[target], target) < 0) code = errno;
  if (!code && has_raised && setrlimit(RLIMIT_NOFILE, &given_descriptors)) code = errno;
  if (!code && wanted) code = become(wanted);
  // It ends with the thread that waits for it, and so with a daemon that is killed: a new daemon
  // starts the command again. Changing the user would have undone this before.
  if (!code && prctl(PR_SET_PDEATHSIG, SIGKILL)) code = errno;
  if (!code && getppid() != parent) _exit(127);
  if (!code) {
    execvpe(program, arguments, environment);
    code = errno;
  }
  ssize_t written = write(report, &code, sizeof code);
  (void)written;
  _exit(127);
}

int tarn_start(
    const char *program, char *const arguments[], char *const environment[], const char *user,
    int input, int output, int error, pid_t *process) {
  identity wanted;
  if (user) {
    int code = find_identity(user, &wanted);
    if (code) return code;
  }
  // All are duplicated above the standard ones first, so that dup2 overwrites none of them.
  int descriptors[3] = {
      fcntl(input, F_DUPFD_CLOEXEC, 3), fcntl(output, F_DUPFD_CLOEXEC, 3),
      fcntl(error, F_DUPFD_CLOEXEC, 3)};
  int ends[2] = {-1, -1};
  int code = 0;
  for (int index = 0; index < 3; index++)
    if (descriptors[index] < 0) code = errno;
  if (!code && pipe2(ends, O_CLOEXEC)) code = errno;
  if (!code) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
      run(program, arguments, environment, user ? &wanted : NULL, descriptors, ends[1], parent);
    }
    if (child < 0) code = errno;
    close(ends[1]);
    ends[1] = -1;
    if (child > 0) {
      // Also here, so that a signal to the group reaches it whoever runs first.
      setpgid(child, child);
      int failed = 0;
      ssize_t count;
      do count = read(ends[0], &failed, sizeof failed);
      while (count < 0 && errno == EINTR);
      if (count == (ssize_t)sizeof failed) code = failed;
      *process = child;
    }
  }
  for (int index = 0; index < 3; index++)
    if (descriptors[index] >= 0) close(descriptors[index]);
  for (int index = 0; index < 2; index++)
    if (ends[index] >= 0) close(ends[index]);
  return code;
}

int tarn_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int tarn_pipe(int ends[2], bool without_blocking) {
  return pipe2(ends, O_CLOEXEC | (without_blocking ? O_NONBLOCK : 0));
}

int tarn_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int tarn_own_file(int descriptor) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_SETLK, &whole) == 0 ? 0 : errno;
}

pid_t tarn_owner(int descriptor) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_GETLK, &whole) != 0 || whole.l_type == F_UNLCK) return 0;
  return whole.l_pid > 0 ? whole.l_pid : 0;
}

int tarn_lock_file(int descriptor) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}
