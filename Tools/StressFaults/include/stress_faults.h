#ifndef STRESS_FAULTS_H
#define STRESS_FAULTS_H

// Fault points inside LMDB, where no line of ours runs: a program that links this target has calls
// of the system of its own (`pwrite`, `writev`, `fdatasync`), which the dynamic linker gives to
// liblmdb too.

// What LMDB does with the disk in one commit, in this order.
enum stress_step { stress_pages = 1, stress_sync = 2, stress_header = 3 };

// Calls `hook` after each write of an LMDB header page: from there on the commit is in the file,
// and LMDB has not yet told the table in the lock file, by which new readers find their commit.
void stress_after_header_write(void (*hook)(void));

// Calls `hook` before each wait for the disk.
void stress_before_sync(void (*hook)(void));

// Lets the step fail with that number, once, the next time that LMDB comes to it.
void stress_fail_next(enum stress_step step, int error_number);

#endif
