#ifndef STRESS_FAULTS_INTERNAL_H
#define STRESS_FAULTS_INTERNAL_H

#include "stress_faults.h"

#include <dlfcn.h>
#include <stdbool.h>

enum fate { passes, fails, halves };

// Counts a call. Returns its fate; sets `errno` if it fails.
enum fate fate_of(enum stress_calls kind, const void *caller);

#define FATE(kind) fate_of(kind, __builtin_return_address(0))
#define FAILS(kind) (FATE(kind) == fails)

// The function that this one replaces.
#define NEXT(name)                                                                                 \
  ({                                                                                               \
    static _Atomic(__typeof__(&name)) next;                                                        \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                  \
    next;                                                                                          \
  })

// Whether this step of LMDB fails; `errno` is set then.
bool step_fails(enum stress_step step);

// The hooks, which may be null.
void (*hook_after_header(void))(void);
void (*hook_before_sync(void))(void);

// The path that is opened for this one.
const char *seen_path(const char *path);

#endif
