#include "ctarn_thread.h"

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
