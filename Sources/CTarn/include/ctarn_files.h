#ifndef CTARN_FILES_H
#define CTARN_FILES_H

#include <stdint.h>

// Files without a name, which Swift's view of the system's library leaves out. All are opened for
// reading and writing, close-on-exec; -1 and errno if there are none.

// In memory, gone with its last descriptor and mapping. The name is shown in lists of mappings.
int tarn_memory_file(const char *name);
// On the folder's file system, with that mode less the process's umask. It can be given a name
// later (linkat).
int tarn_nameless_file(const char *folder, uint32_t mode);
#endif
