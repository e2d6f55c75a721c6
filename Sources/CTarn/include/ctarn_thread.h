#ifndef CTARN_THREAD_H
#define CTARN_THREAD_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// A number that identifies this thread while it lives. Not pthread_self(): it is declared const, so
// the optimizer may keep its value across a suspension and report the wrong thread. `pure` lets a
// caller merge two reads only if nothing in between could switch threads.
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

// Of Core Foundation, which Foundation on Linux links: its run loops can be woken from another
// thread, which Foundation's own interface cannot do.
void *CFRunLoopGetCurrent(void);
void CFRunLoopWakeUp(void *loop);
// A thread's run loop; null if it has none. The other functions make one, which takes descriptors
// and ends the program if none is left.
void *_CFRunLoopGet0b(pthread_t thread);

// The two words of Swift's UnownedSerialExecutor.
struct tarn_executor {
  const void *identity;
  uintptr_t implementation;
};

// The concurrency runtime's check whether this code runs on an executor. Swift's interface only has
// checks that end the program (preconditionIsolated). Without flags it never ends the program.
__attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(
    struct tarn_executor executor, uint64_t flags);

// The executor that this code runs on; both words are 0 if it is not an actor's.
__attribute__((swiftcall)) struct tarn_executor swift_task_getCurrentExecutor(void);

// The label of the queue that this code runs on; that of a global queue if it runs on none.
const char *tarn_queue_label(void);

// ---- a lock within this process --------------------------------------------------------------
// Its word is 0 while free, tarn_lock_held() while held, one more while held and a thread may
// sleep. Any other value means free: a thread of a parent process has left it.
//
// The first word of a lock of the process: whoever takes it first calls tarn_hold_over_forks().
static const uint32_t tarn_lock_new = UINT32_MAX;
// Takes the lock if it is free.
bool tarn_lock_try(void *word);
// Takes a lock whose word was just found not to be 0: spins for a while, then sleeps.
void tarn_lock_wait(void *word);
// Wakes one sleeper. Called by a thread that has just set the word of a lock with sleepers to 0.
void tarn_lock_wake(void *word);

// For a build with the thread sanitizer; in other builds these do nothing and are not called.
//
// The sanitizer ignores this thread's accesses in between: they follow the last use of an object by
// other threads, an order that only Swift's reference counts establish. The sanitizer ignores
// deinit for the same reason.
void tarn_unchecked_begin(void);
void tarn_unchecked_end(void);

// Every accessor of a Realm instance checks this before it reads: one cache line. In a child of the
// process both are 0, which sends every read to the slow path.
struct tarn_context {
  // Changes whenever rows may have moved: at an advance, and at the first edit of a cluster. Taken
  // from a process-wide counter, so that an old value never becomes valid again. Not 0.
  uint64_t generation;
  // The thread that may read, or 0 to send every read to the slow path.
  uintptr_t thread;
};
// A context in memory that the kernel clears in each child, however the child was created. Null
// without memory. Any thread, without a lock.
struct tarn_context *tarn_context_make(void);
void tarn_context_free(struct tarn_context *context);
#endif
