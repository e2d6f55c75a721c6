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
// With a name that nobody can foresee, which takes the place of the six X at the end.
int tarn_temporary_file(char *path);
// What lies at the path, without opening it for anything: a link itself, a pipe, a file that this
// user may not read. Closing it drops no lock. -1 and errno.
int tarn_file_reference(const char *path);
// Gives the file another name in its file system, unless something has that name. 0, or -1 and
// errno: EEXIST; EINVAL where the file system cannot do that.
int tarn_rename_to_new(const char *from, const char *to);

// ---- the standard descriptors ---------------------------------------------------------------
// A program may be started with 0, 1 or 2 closed. What is opened then gets such a number, and
// whatever the program prints is written there.

// The same open file under a number above 2: `fd` itself, or a copy in its place (close-on-exec).
// -1 and errno if there is no such number left.
int tarn_above_standard(int fd);
// Opens /dev/null under those of 0, 1 and 2 that are closed, so that nothing else gets them. For
// opens in code that is not ours. 0, or an errno.
int tarn_occupy_standard(void);
#endif
