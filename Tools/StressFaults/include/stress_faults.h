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

// From now on counts the calls that write to a disk, allocate, sync, or name a file, and makes the
// one with this number fail with that error number; 0 for none.
void stress_fail_call(int number, int error_number);

// The number of such calls since.
int stress_calls(void);

#endif
