#ifndef STRESS_TRACE_H
#define STRESS_TRACE_H

#include <stdbool.h>

// A trace of everything that this process does to the regular files of one file system and to their
// names: from it, each state can be made that a power failure may leave. Only the test program's
// own functions write to it (see stress_faults.h), so bytes that are written through a mapping are
// missing; the store's data has none.
//
// The trace is a sequence of records in the order of the calls: a `stress_record`, and its bytes.

enum stress_kind {
  stress_wrote = 1,    // bytes, at `offset`
  stress_sized = 2,    // the file has `offset` bytes now
  stress_extended = 3, // the file has at least `offset` bytes now
  stress_synced = 4,   // the file, or the names in a folder
  stress_named = 5,    // the file has the path in the bytes now
  stress_unnamed = 6,  // nothing has the path in the bytes any more
  stress_renamed = 7,  // the file has lost the first path in the bytes for the second
  stress_noted = 8,    // what the program said
};

enum stress_flag {
  stress_at_once = 1, // durable when the call returns
  stress_before = 2,  // on the disk since before the trace began
  stress_folder = 4,  // of a folder
};

struct stress_record {
  unsigned int kind;
  unsigned int flags;
  unsigned long long inode;
  unsigned long long offset;
  unsigned long long byte_count;
};

// Begins a trace in a new file. `folder` is in the file system whose files are traced. Returns 0 or
// an error number.
int stress_trace_begin(const char *folder, const char *trace);

// Adds the contents of a file as they are, as durable. `is_named`: whether its name is, too.
int stress_trace_file(const char *path, bool is_named);

// Adds what the program has to say.
void stress_trace_note(const char *text);

// Between these, nothing is traced.
void stress_trace_pause(void);
void stress_trace_continue(void);

// Whether files get no name at first, as in a file system without nameless files.
void stress_refuse_nameless(bool refuses);

#endif
