// For a program that does not link these functions but is started with them in LD_PRELOAD.

#define _GNU_SOURCE
#include "stress_faults.h"

#include <stdio.h>
#include <stdlib.h>

static const char *count_path;

// TARN_CALLS=KINDS:NUMBER:ERROR: see `stress_fail_call`. TARN_CALLS_COUNT: a file that gets the
// number of calls when the program exits.
__attribute__((constructor)) static void begin(void) {
  const char *wanted = secure_getenv("TARN_CALLS");
  count_path = secure_getenv("TARN_CALLS_COUNT");
  unsigned kinds;
  int number, error_number;
  if (wanted && sscanf(wanted, "%u:%d:%d", &kinds, &number, &error_number) == 3) {
    stress_fail_call(kinds, number, error_number);
  }
}

__attribute__((destructor)) static void end(void) {
  if (!count_path) return;
  int count = stress_count();
  stress_fail_call(0, 0, 0);
  FILE *file = fopen(count_path, "w");
  if (!file) return;
  fprintf(file, "%d\n", count);
  fclose(file);
}
