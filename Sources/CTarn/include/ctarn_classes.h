#ifndef CTARN_CLASSES_H
#define CTARN_CLASSES_H
#include <stddef.h>

// Gives the metadata of every class in the process that derives from the class whose metadata is
// `root` (itself excluded), in no order. Generic classes are left out; their concrete subclasses
// are not. Classes of libraries that were loaded later are found by calling again: the first call
// takes some 200 microseconds, later ones 20.
void tarn_subclasses(
    const void *root, void (*body)(const void *metadata, void *context), void *context);
#endif
