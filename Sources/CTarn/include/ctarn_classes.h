#ifndef CTARN_CLASSES_H
#define CTARN_CLASSES_H
#include <stddef.h>
#include <stdint.h>

// Gives the metadata of every class in the process that derives from the class whose metadata is
// `root` (itself excluded), in no order. Generic classes are left out; their concrete subclasses
// are not. Classes of libraries that were loaded later are found by calling again: the first call
// takes some 200 microseconds, later ones 20.
void tarn_subclasses(
    const void *root, void (*body)(const void *metadata, void *context), void *context);

// How many binaries with types of Swift are loaded. The runtime forgets none, so that there may be
// classes that were not there before if, and only if, this has grown.
int64_t tarn_binary_count(void);
#endif
