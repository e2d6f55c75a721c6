#ifndef CTARN_FORK_H
#define CTARN_FORK_H
#include <stdbool.h>
#include <stdint.h>

// Forks: the state of the child, and the library's threads during a fork.

// ---- the child ------------------------------------------------------------------------------

extern uint32_t tarn_fork_count_;
// Points to a number that the kernel sets to 0 in each child, however the child was created. It is
// 1 in a process that knows itself.
extern uint32_t *tarn_fork_mark_;
// Called in a child that was created without the C library's fork, when it first sees the mark.
void tarn_notice_fork(void);
// Incremented in each forked child: a value remembered in the parent differs.
static inline uint32_t tarn_fork_count(void) {
  if (__builtin_expect(__atomic_load_n(tarn_fork_mark_, __ATOMIC_ACQUIRE) != 1, 0))
    tarn_notice_fork();
  return __atomic_load_n(&tarn_fork_count_, __ATOMIC_RELAXED);
}
// Whether this process was created without the C library's fork. The library is then not prepared
// for it: locks in shared memory would be taken on behalf of one of the parent's threads.
bool tarn_forked_unprepared(void);
// The value of a lock's word while a thread of this process holds it. Another one in each child, so
// that a lock which a thread of the parent held counts as free.
extern uint32_t tarn_lock_held_;
// Reads it; a fork does not change it while a lock is held.
static inline uint32_t tarn_lock_held(void) {
  return __atomic_load_n(&tarn_lock_held_, __ATOMIC_RELAXED);
}
// From now on a forked child closes this descriptor first, so that it does not keep the parent's
// locks alive. Returns 0 or an errno: EMFILE for a descriptor of 1,048,576 or more.
int tarn_close_in_child(int fd);
// Undoes tarn_close_in_child(). Call it before closing the descriptor.
void tarn_forget_in_child(int fd);
// Releases the locks of such a descriptor, and closes it. Closing alone is not enough: a program
// that is being started (posix_spawn) has a copy of the descriptor until it calls exec, and the
// locks live as long as any copy.
void tarn_unlock_and_close(int fd);

// ---- what a fork waits for ------------------------------------------------------------------
//
// A lock that another thread holds at the moment of a fork has no holder in the child, and what it
// guards may be half changed. The library's own locks (ctarn_thread.h) are then free; those of
// Swift's runtime, which takes one whenever it creates the metadata of a generic type, are not. So
// fork first waits until no thread is busy: each of the library's threads sleeps or has ended, and
// no other thread opens or closes a file. Then it takes the locks of the process. Both last until
// it is done. It waits for a second at most: a thread that is busy for longer, or that waits for
// the forking thread, must not hang the fork.

// Counts a thread as busy. Waits while the process forks. Called by the starting thread before it
// starts the new one, and by the thread itself after it has slept.
void tarn_thread_busy(void);
// Counts the thread as not busy: called before it sleeps, and when it ends.
void tarn_thread_resting(void);
// Called by a new thread, which was counted by its starter.
void tarn_thread_begin(void);

// The calling thread is busy until the matching end. May be nested.
void tarn_section_begin(void);
void tarn_section_end(void);

// A fork takes this lock from now on: one that lives as long as the process, under which no other
// lock is taken. There can be 64 of them.
void tarn_hold_over_forks(void *word);
#endif
