#ifndef CTARN_FORK_H
#define CTARN_FORK_H
#include <stdbool.h>
#include <stdint.h>

// What happens when the process forks: what the child has, and what our threads do meanwhile.

// ---- the child ------------------------------------------------------------------------------

extern uint32_t tarn_fork_count_;
// Leads to a number that the kernel makes 0 in each child, whichever way it was made.
extern uint32_t *tarn_fork_mark_;
// What a child does that was made without the C library's fork, at its first look at the mark.
void tarn_notice_fork(void);
// Raised in each forked child: whoever remembers another number was made in the parent.
static inline uint32_t tarn_fork_count(void) {
  if (__builtin_expect(__atomic_load_n(tarn_fork_mark_, __ATOMIC_ACQUIRE) == 0, 0))
    tarn_notice_fork();
  return __atomic_load_n(&tarn_fork_count_, __ATOMIC_RELAXED);
}
// Was this process made without the C library's fork? Then nobody prepared that library for it: a
// lock in shared memory would be taken in the name of a thread of the parent's.
bool tarn_forked_unprepared(void);
// From now on a forked child closes this descriptor first of all, so that it does not keep the
// parent's locks alive. 0, or an errno: EMFILE for a number of 1,048,576 and more.
int tarn_close_in_child(int fd);
// Undoes it; call it before the descriptor is closed.
void tarn_forget_in_child(int fd);
// Gives up the locks of such a descriptor, and closes it. Closing alone is not enough: a program
// that is being started (posix_spawn) has a copy of the descriptor until it calls exec, and the
// locks live as long as any copy.
void tarn_unlock_and_close(int fd);

// ---- our threads ----------------------------------------------------------------------------
//
// A lock that another thread holds at the moment of a fork is never let go of in the child. Those
// of Swift's own runtime are among them: it takes one whenever it makes the metadata of a generic
// type. So fork waits, before it forks, until each thread of ours sleeps or has ended, and keeps
// them from going on until it is done. It waits for a second at most: a thread that is busy for
// longer, or that waits for something of the forking thread's, is not worth a hang.

// Counts a thread as busy. Waits while the process forks. By who starts it, before it starts; and
// by itself, after it has slept.
void tarn_thread_busy(void);
// Counts it as not busy: before it sleeps, and at its end.
void tarn_thread_resting(void);
#endif
