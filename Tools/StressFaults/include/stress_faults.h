#ifndef STRESS_FAULTS_H
#define STRESS_FAULTS_H

// A fault point inside LMDB, where no line of ours runs: a program that links this target has a
// `pwrite` of its own, which the dynamic linker gives to liblmdb too.

// Calls `hook` after each write of an LMDB header page: from there on the commit is in the file,
// and LMDB has not yet told the table in the lock file, by which new readers find their commit.
void stress_after_header_write(void (*hook)(void));

#endif
