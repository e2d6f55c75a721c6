#define _GNU_SOURCE
#include "ctarn_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Everything below runs in a signal handler: it allocates no memory and takes no lock. It finds the
// file of an address in /proc/self/maps.

static struct sigaction before;
static uint64_t page_bytes;
// One thread speaks; the process ends meanwhile or afterwards.
static atomic_flag is_told = ATOMIC_FLAG_INIT;

struct mapping {
  uint64_t start, end, offset, inode;
  bool is_written;
  const char *path;
};

// Writes to the standard error.
static void say(const char *text) {
  size_t count = strlen(text);
  while (count > 0) {
    ssize_t done = write(STDERR_FILENO, text, count);
    if (done <= 0 && errno != EINTR) return;
    if (done > 0) {
      text += done;
      count -= (size_t)done;
    }
  }
}

// Writes a number in decimals.
static void say_number(uint64_t number) {
  char digits[21];
  int at = 20;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  say(digits + at);
}

// Moves past the digits and the byte after them.
static uint64_t number(const char **text, unsigned radix) {
  uint64_t value = 0;
  for (;;) {
    char c = *(*text)++;
    unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
        : c >= 'a' && c <= 'f'            ? (unsigned)(c - 'a') + 10
                                          : 99;
    if (digit >= radix) {
      if (c == 0) (*text)--;
      return value;
    }
    value = value * radix + digit;
  }
}

// start-end rwxs offset major:minor inode path
static bool parse(const char *line, uint64_t address, struct mapping *found) {
  found->start = number(&line, 16);
  found->end = number(&line, 16);
  if (address < found->start || address >= found->end || strlen(line) < 5) return false;
  found->is_written = line[1] == 'w';
  line += 5;
  found->offset = number(&line, 16);
  number(&line, 16);
  number(&line, 16);
  found->inode = number(&line, 10);
  while (*line == ' ') line++;
  found->path = line;
  return true;
}

// The mapping that has the address; its path is in memory of this function.
static bool find(uint64_t address, struct mapping *found) {
  static char line[4096 + 256];
  static char chunk[4096];
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  size_t length = 0;
  for (;;) {
    ssize_t count = read(maps, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (ssize_t i = 0; i < count; i++) {
      if (chunk[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = chunk[i];
        continue;
      }
      line[length] = 0;
      length = 0;
      if (parse(line, address, found)) {
        close(maps);
        return true;
      }
    }
  }
  close(maps);
  return false;
}

// Why the byte at that offset of the mapped file cannot be used.
static const char *reason(const struct mapping *map, uint64_t offset) {
  // It stays open: closing it would drop locks of this process on the file.
  int file = open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0 || (uint64_t)facts.st_ino != map->inode)
    return "the file was cut by another program, or the disk cannot read it";
  if (offset >= (uint64_t)facts.st_size) return "the file was cut by another program";
  char byte;
  if (pread(file, &byte, 1, (off_t)offset) < 0)
    return errno == EIO ? "the disk reports an input/output error" : "it cannot be read";
  return map->is_written ? "the disk has no room for a change of it"
                         : "the disk reported an error, which has passed";
}

// Writes which page of which file is at the address, and why it cannot be used.
static void explain(uint64_t address) {
  struct mapping map;
  say("SIGBUS: ");
  if (!find(address, &map) || map.path[0] != '/') {
    say("a page of a mapped file cannot be used\n");
    return;
  }
  uint64_t offset = map.offset + (address - map.start);
  say("page ");
  say_number(offset / page_bytes);
  say(" of ");
  say(map.path);
  say(" cannot be used: ");
  say(reason(&map, offset));
  say("\n");
}

// The handler of SIGBUS.
static void on_bus(int signal, siginfo_t *facts, void *context) {
  (void)context;
  int error = errno;
  bool is_fault = facts->si_code > 0;
  if (is_fault && !atomic_flag_test_and_set(&is_told)) explain((uint64_t)(uintptr_t)facts->si_addr);
  // The access is repeated after this, and its signal goes to the handler from before.
  sigaction(SIGBUS, &before, NULL);
  if (!is_fault) raise(signal);
  errno = error;
}

void tarn_explain_bus_errors(void) {
  page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  struct sigaction now;
  if (sigaction(SIGBUS, NULL, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus) return;
  before = now;
  struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}
