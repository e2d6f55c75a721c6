#include "ctarn_thread.h"

// Dispatch's own, which Swift links. Its overlay has labels of queues, but no running queue.
const char *dispatch_queue_get_label(void *queue);

const char *tarn_queue_label(void) { return dispatch_queue_get_label(0); }

#if __has_feature(thread_sanitizer)
// The sanitizer's own, which no header declares.
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

void tarn_lock_acquired(void *lock) { __tsan_acquire(lock); }
void tarn_lock_released(void *lock) { __tsan_release(lock); }

void tarn_unchecked_begin(void) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

void tarn_unchecked_end(void) {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#else
void tarn_lock_acquired(void *lock) { (void)lock; }
void tarn_lock_released(void *lock) { (void)lock; }
void tarn_unchecked_begin(void) {}
void tarn_unchecked_end(void) {}
#endif
