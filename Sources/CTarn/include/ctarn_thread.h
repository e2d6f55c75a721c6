#ifndef CTARN_THREAD_H
#define CTARN_THREAD_H
#include <stdbool.h>
#include <stdint.h>

// A number that is this thread's own while it lives. Not pthread_self(): that one is declared
// const, so the optimizer may keep it across a suspension and report the wrong thread. `pure`
// lets a caller merge two reads only when nothing that could switch threads lies between.
static inline __attribute__((always_inline, pure)) uintptr_t tarn_thread_id(void) {
#if defined(__x86_64__)
  uintptr_t value;
  __asm__ volatile("movq %%fs:0x10, %0" : "=r"(value));
  return value;
#elif defined(__aarch64__)
  uintptr_t value;
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(value));
  return value;
#else
#error "tell tarn_thread_id() how this architecture names the running thread"
#endif
}

// Core Foundation, which Foundation on Linux is built on and links: its loops can be woken from
// another thread, which Foundation's own interface cannot do.
void *CFRunLoopGetCurrent(void);
void CFRunLoopWakeUp(void *loop);

// The two words of Swift's UnownedSerialExecutor.
struct tarn_executor {
  const void *identity;
  uintptr_t implementation;
};

// The concurrency runtime's own answer to whether this code runs on an executor. Swift's interface
// has checks that end the program (preconditionIsolated) but none that answers. With no flags it
// never ends the program.
__attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(
    struct tarn_executor executor, uint64_t flags);

// The executor that this code runs on; both words are 0 if that is none of an actor's.
__attribute__((swiftcall)) struct tarn_executor swift_task_getCurrentExecutor(void);

// The label of the queue that this code runs on; that of a global one if it runs on no queue.
const char *tarn_queue_label(void);

// ---- a lock within this process --------------------------------------------------------------
// Its word is 0 while it is free, 1 while it is held, 2 while it is held and a thread may sleep.
//
// Takes the lock, which was not free a moment ago: looks for a while, then sleeps.
void tarn_lock_wait(void *word);
// Wakes one sleeper. By a thread that has just set the word from 2 to 0.
void tarn_lock_wake(void *word);

// For a build under the thread sanitizer; in any other build they do nothing, and nothing calls
// them.
//
// What this thread does in between is not checked: it comes after the last use of an object by
// others, which only Swift's reference counts say. The sanitizer leaves out deinit for the same
// reason.
void tarn_unchecked_begin(void);
void tarn_unchecked_end(void);

// What every accessor of one Realm instance checks before it reads: one line of cache.
struct tarn_context {
  // Changes whenever rows may have moved: at an advance, and at the first edit of a cluster.
  // Taken from a process-wide counter, so that no old value ever becomes right again.
  uint64_t generation;
  // The thread that may read, or 0 to send every read through the slow path.
  uintptr_t thread;
};
#endif
