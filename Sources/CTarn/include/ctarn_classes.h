#ifndef CTARN_CLASSES_H
#define CTARN_CLASSES_H
#include <stddef.h>
#include <stdint.h>

// Passes the metadata of every class in the process that derives from the class with metadata
// `root` (itself excluded), in no particular order. Generic classes are skipped; their concrete
// subclasses are not. Call again to find classes of libraries loaded later: the first call takes
// some 200 microseconds, later ones 20.
void tarn_subclasses(
    const void *root, void (*body)(const void *metadata, void *context), void *context);

// The number of loaded binaries with Swift types. The runtime never removes one, so new classes can
// exist if, and only if, this number has grown.
int64_t tarn_binary_count(void);
#endif
