#define _GNU_SOURCE
#include "ctarn_files.h"

#include <fcntl.h>
#include <sys/mman.h>

int tarn_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int tarn_nameless_file(const char *folder, uint32_t mode) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}
