#ifndef STRESS_FAULTS_H
#define STRESS_FAULTS_H

// Fault points inside LMDB, where Tarn's code does not run: a program that links this target
// defines the functions that write to a disk itself, and the dynamic linker binds liblmdb to them.

// The disk operations of LMDB in one commit, in this order.
enum stress_step { stress_pages = 1, stress_sync = 2, stress_header = 3 };

// Calls `hook` after each write of an LMDB header page. The commit is then in the file, but LMDB
// has not yet updated the table in the lock file through which new readers find it.
void stress_after_header_write(void (*hook)(void));

// Calls `hook` before each sync.
void stress_before_sync(void (*hook)(void));

// Makes the step fail with that error number, once, the next time LMDB performs it.
void stress_fail_next(enum stress_step step, int error_number);

// Kinds of calls.
enum stress_calls {
  stress_writing = 1,     // pwrite, write, writev
  stress_syncing = 2,     // fsync, fdatasync
  stress_allocating = 4,  // fallocate, ftruncate
  stress_naming = 8,      // link, rename
  stress_reading = 16,    // pread, read
  stress_asking = 32,     // stat, fstat, lstat, fstatvfs, opendir, realpath
  stress_describing = 64, // open, memfd_create, inotify_init1, eventfd, dup: a new descriptor
  stress_mapping = 128,   // mmap
  stress_locking = 256,   // fcntl with a lock, flock
  stress_watching = 512,  // inotify_add_watch
  stress_starting = 1024, // pthread_create
  stress_passing = 2048,  // mkdtemp, mkostemp, symlink, unlink, rmdir
  stress_disk = stress_writing | stress_syncing | stress_allocating | stress_naming,
};

// Not an error number: the call does half of its work.
enum { stress_half = -1 };

// From now on counts the calls of these kinds that this program or LMDB makes, and makes the one
// with this number fail with that error number, or do half of its work; 0 for none.
void stress_fail_call(unsigned kinds, int number, int error_number);

// The number of such calls since.
int stress_count(void);

#endif
