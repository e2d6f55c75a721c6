#ifndef STRESS_TRACE_INTERNAL_H
#define STRESS_TRACE_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

// Around each traced call and its record, so that their order is that of the calls. False if
// nothing is traced; then there is nothing to end.
bool trace_enter(void);
void trace_leave(void);

void trace_write(int fd, const struct iovec *pieces, int count, ssize_t written, off_t offset);
void trace_size(int fd, off_t byte_count, bool may_shrink);
void trace_sync(int fd);
void trace_name(const char *path);
void trace_unname(const char *path);
void trace_rename(const char *from, const char *to);

bool refuses_nameless(void);

#endif
