#define _GNU_SOURCE
#include "ctarn_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// Only calls that may be made in a handler of signals, and no memory but the stack.

static struct sigaction before;

// Writes to the standard error.
static void say(const char *text) {
  ssize_t done = write(STDERR_FILENO, text, strlen(text));
  (void)done;
}

// Reads a hexadecimal number, and moves past it.
static uintptr_t hexadecimal(const char **text) {
  uintptr_t value = 0;
  for (;; (*text)++) {
    char digit = **text;
    if (digit >= '0' && digit <= '9') value = value << 4 | (uintptr_t)(digit - '0');
    else if (digit >= 'a' && digit <= 'f') value = value << 4 | (uintptr_t)(digit - 'a' + 10);
    else return value;
  }
}

// The path in a line "start-end rights offset device inode path" of /proc/self/maps; null if the
// address is not in it, or the mapping has no path.
static const char *path_of(const char *line, uintptr_t address) {
  const char *at = line;
  uintptr_t start = hexadecimal(&at);
  if (*at++ != '-') return NULL;
  uintptr_t end = hexadecimal(&at);
  return address >= start && address < end ? strchr(at, '/') : NULL;
}

// Writes the path of the file that is mapped at the address.
static void say_file(uintptr_t address) {
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return say("a file");
  // Longer lines do not matter: a path has at most 4,096 bytes.
  char line[4608], bytes[1024];
  size_t length = 0;
  const char *path = NULL;
  for (ssize_t count; path == NULL && (count = read(maps, bytes, sizeof bytes)) > 0;) {
    for (ssize_t i = 0; path == NULL && i < count; i++) {
      if (bytes[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = bytes[i];
        continue;
      }
      line[length] = 0;
      length = 0;
      path = path_of(line, address);
    }
  }
  close(maps);
  say(path ? path : "a file");
}

// The handler of SIGBUS.
static void explain(int number, siginfo_t *info, void *context) {
  (void)context;
  int error = errno;
  say(program_invocation_short_name);
  say(": ");
  say_file((uintptr_t)info->si_addr);
  say(" was cut by another program, or the disk cannot read it: this process cannot continue\n");
  // The access is repeated, and ends the process as if it had not been caught.
  sigaction(number, &before, NULL);
  errno = error;
}

void tarn_explain_bus_errors(void) {
  struct sigaction action = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO};
  sigfillset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}
