#ifndef CTARN_FILES_H
#define CTARN_FILES_H

#include <stdbool.h>
#include <stdint.h>

// Files without a name, which Swift's system module does not expose. All are opened for reading and
// writing, close-on-exec; -1 and errno on failure.

// In memory; freed with its last descriptor and mapping. The name appears in lists of mappings.
int tarn_memory_file(const char *name);
// In the folder's file system, with that mode less the process's umask. It can be linked to a name
// later (linkat).
int tarn_nameless_file(const char *folder, uint32_t mode);
// With an unpredictable name, which replaces the six X at the end.
int tarn_temporary_file(char *path);
// A reference to the path, without opening its file: a link itself, a pipe, a file that this user
// cannot read. Closing it drops no lock. -1 and errno on failure.
int tarn_file_reference(const char *path);
// Renames the file within its file system, unless the new name exists. 0, or -1 and errno: EEXIST;
// EINVAL if the file system cannot do that.
int tarn_rename_to_new(const char *from, const char *to);
// The inode and the time of creation of an open file. False where they may change while the file
// lasts, and where the file system keeps no such time: only local file systems are known to do.
bool tarn_file_birth(int fd, uint64_t *inode, int64_t *seconds, uint32_t *nanoseconds);
// A number for the mount through which the file was opened; 0 if the kernel tells none. From Linux
// 6.8 on no other mount of the same run of the system has it, earlier none at the same time.
uint64_t tarn_mount_number(int fd);

// Makes the file system write a new, empty file in place. Btrfs otherwise writes each change to
// another place, for which a full disk has no room: then an access to a mapped page ends the
// process. It still does so for pages that a snapshot shares. Does nothing elsewhere.
void tarn_write_in_place(int fd);

// May the effective user do that with the file (R_OK, W_OK)? 0, or an errno; 0 also where the
// kernel cannot say: then opening it shows. Unlike access, which judges by the real user of a
// set-uid program; and unlike opening and closing the file, which drops the POSIX locks of this
// process.
int tarn_effective_access(const char *path, int rights);
// A variable of the environment; null if it is not set, or in a set-uid program, whose caller must
// not choose what it does.
const char *tarn_trusted_variable(const char *name);

// For programs, which decide about signals: when touching a mapped file ends the process (SIGBUS),
// the standard error says which page of which file it was, and why. The process ends as it would
// without this: the signal goes to the handler from before the call.
void tarn_explain_bus_errors(void);

// ---- the standard descriptors ---------------------------------------------------------------
// A program may be started with 0, 1 or 2 closed. The next file opened then gets such a number, and
// the program's output is written into it.

// The same open file under a number above 2: `fd` itself, or a copy in its place (close-on-exec).
// -1 and errno if no number is left.
int tarn_above_standard(int fd);
// Opens /dev/null as those of 0, 1 and 2 that are closed, so that no other file gets their numbers.
// Used before code of others opens files. 0, or an errno.
int tarn_occupy_standard(void);
#endif
