#define _GNU_SOURCE
#include "ctarn_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int tarn_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int tarn_nameless_file(const char *folder, uint32_t mode) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int tarn_temporary_file(char *path) { return mkostemp(path, O_CLOEXEC); }

int tarn_file_reference(const char *path) { return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC); }

int tarn_rename_to_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
