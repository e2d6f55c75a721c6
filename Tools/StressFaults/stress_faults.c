#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static void (*_Atomic after_header_write)(void);
static void (*_Atomic before_sync)(void);
static _Atomic int failing_step;
static _Atomic int failing_number;

void stress_after_header_write(void (*hook)(void)) { atomic_store(&after_header_write, hook); }
void stress_before_sync(void (*hook)(void)) { atomic_store(&before_sync, hook); }
void (*hook_after_header(void))(void) { return atomic_load(&after_header_write); }
void (*hook_before_sync(void))(void) { return atomic_load(&before_sync); }

void stress_fail_next(enum stress_step step, int error_number) {
  atomic_store(&failing_number, error_number);
  atomic_store(&failing_step, step);
}

bool step_fails(enum stress_step step) {
  int wanted = step;
  if (!atomic_compare_exchange_strong(&failing_step, &wanted, 0)) return false;
  errno = atomic_load(&failing_number);
  return true;
}

// The code of this program and of LMDB: other libraries make the same calls for purposes of their
// own, and end the process if one fails.
static struct { uintptr_t start, end; } ours[2];
static int our_count;
static pthread_once_t found = PTHREAD_ONCE_INIT;

static int find(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  bool is_ours = info->dlpi_name[0] == 0 || strstr(info->dlpi_name, "liblmdb");
  for (int index = 0; is_ours && index < info->dlpi_phnum && our_count < 2; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    ours[our_count].start = info->dlpi_addr + part->p_vaddr;
    ours[our_count].end = ours[our_count].start + part->p_memsz;
    our_count++;
  }
  return 0;
}

static void find_all(void) { dl_iterate_phdr(find, NULL); }

static bool is_ours(const void *caller) {
  pthread_once(&found, find_all);
  for (int index = 0; index < our_count; index++) {
    uintptr_t at = (uintptr_t)caller;
    if (at >= ours[index].start && at < ours[index].end) return true;
  }
  return false;
}

static _Atomic unsigned failing_kinds;
static _Atomic int call_count;
static _Atomic int failing_call;

void stress_fail_call(unsigned kinds, int number, int error_number) {
  atomic_store(&failing_kinds, 0);
  atomic_store(&failing_number, error_number);
  atomic_store(&failing_call, number);
  atomic_store(&call_count, 0);
  atomic_store(&failing_kinds, kinds);
}

int stress_count(void) { return atomic_load(&call_count); }

enum fate fate_of(enum stress_calls kind, const void *caller) {
  if (!(atomic_load(&failing_kinds) & kind) || !is_ours(caller)) return passes;
  int number = atomic_fetch_add(&call_count, 1) + 1;
  if (number != atomic_load(&failing_call)) return passes;
  int error_number = atomic_load(&failing_number);
  if (error_number == stress_half) return halves;
  errno = error_number;
  return fails;
}
