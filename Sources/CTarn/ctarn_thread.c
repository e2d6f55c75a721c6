#include "ctarn_thread.h"

// Dispatch's own, which Swift links. Its overlay has labels of queues, but no running queue.
const char *dispatch_queue_get_label(void *queue);

const char *tarn_queue_label(void) { return dispatch_queue_get_label(0); }

#if __has_feature(thread_sanitizer)
// The sanitizer's own, which no header declares.
void __tsan_acquire(void *address);
void __tsan_release(void *address);

void tarn_lock_acquired(void *lock) { __tsan_acquire(lock); }
void tarn_lock_released(void *lock) { __tsan_release(lock); }
#else
void tarn_lock_acquired(void *lock) { (void)lock; }
void tarn_lock_released(void *lock) { (void)lock; }
#endif
