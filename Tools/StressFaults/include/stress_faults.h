#ifndef STRESS_FAULTS_H
#define STRESS_FAULTS_H

// Fault points inside LMDB, where Tarn's code does not run: a program that links this target
// defines `pwrite`, `writev` and `fdatasync` itself, and the dynamic linker binds liblmdb to them.

// The disk operations of LMDB in one commit, in this order.
enum stress_step { stress_pages = 1, stress_sync = 2, stress_header = 3 };

// Calls `hook` after each write of an LMDB header page. The commit is then in the file, but LMDB
// has not yet updated the table in the lock file through which new readers find it.
void stress_after_header_write(void (*hook)(void));

// Calls `hook` before each sync.
void stress_before_sync(void (*hook)(void));

// Makes the step fail with that error number, once, the next time LMDB performs it.
void stress_fail_next(enum stress_step step, int error_number);

#endif
