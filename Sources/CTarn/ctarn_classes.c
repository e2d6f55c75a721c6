#include "ctarn.h"
#include <stdbool.h>
#include <stdint.h>

// The compiler emits a record of each type into a section of the binary, and Swift's runtime knows
// these sections in all loaded binaries. The search walks the records, follows each class to its
// superclass by descriptors alone, and creates metadata only for classes that derive from the root.
// The structures below are Swift's stable ABI on Linux (docs/ABI/TypeMetadata.rst).

struct range { uintptr_t start, length; };
struct sections {
  uintptr_t version;
  const void *base;
  void *unused[2];
  struct range protocols, conformances, types;  // more follow
};
// Swift's runtime: calls `body` for the sections of each binary until it returns false.
extern void swift_enumerateAllMetadataSections(
    bool (*body)(const struct sections *, void *), void *context);

struct class_descriptor {
  uint32_t flags;
  int32_t parent, name, accessor, fields, superclass;
};
struct metadata_response { const void *metadata; size_t state; };

enum {
  KIND_MASK = 0x1f,
  KIND_CLASS = 16,
  FLAG_GENERIC = 0x80,
  DESCRIPTOR_WORD = 5,  // of class metadata: kind, superclass, flags, sizes, sizes, descriptor
  DEPTH_MAX = 64,
};

// Offsets are relative to the field that holds them; 0 is null.
static const void *relative(const int32_t *field) {
  return *field != 0 ? (const char *)field + *field : NULL;
}

// True for the descriptor of a class; false for other types and for NULL.
static bool is_class(const struct class_descriptor *d) {
  return d != NULL && (d->flags & KIND_MASK) == KIND_CLASS;
}

// The superclass is named by its mangled name, which for a class starts with a reference to the
// descriptor: 1 and its offset, or 2 and the offset of a pointer to it.
static const struct class_descriptor *superclass_of(const struct class_descriptor *d) {
  const char *name = relative(&d->superclass);
  if (name == NULL || (name[0] != 1 && name[0] != 2)) return NULL;
  int32_t offset;
  memcpy(&offset, name + 1, sizeof offset);
  const char *target = name + 1 + offset;
  if (name[0] == 2) return *(const struct class_descriptor *const *)target;
  return (const struct class_descriptor *)target;
}

struct search {
  const struct class_descriptor *root;
  void (*body)(const void *, void *);
  void *context;
};

// True if `root` is a superclass of the class. Stops early in a malformed chain.
static bool derives(const struct class_descriptor *d, const struct class_descriptor *root) {
  for (int depth = 0; depth < DEPTH_MAX; depth++) {
    d = superclass_of(d);
    if (d == root) return true;
    if (!is_class(d)) return false;
  }
  return false;
}

// Visits the types of one binary and calls the search's body for matching classes.
static bool visit(const struct sections *sections, void *context) {
  const struct search *search = context;
  const int32_t *records = (const int32_t *)sections->types.start;
  size_t count = sections->types.length / sizeof *records;
  for (size_t i = 0; i < count; i++) {
    // The two low bits say whether the record points to the descriptor or to a pointer to it.
    int32_t record = records[i], how = record & 3;
    if (record == 0 || how > 1) continue;
    const char *target = (const char *)&records[i] + (record & ~3);
    const struct class_descriptor *d = how == 1
        ? *(const struct class_descriptor *const *)target
        : (const struct class_descriptor *)target;
    if (!is_class(d) || (d->flags & FLAG_GENERIC) || !derives(d, search->root)) continue;
    struct metadata_response (*accessor)(size_t) =
        (struct metadata_response (*)(size_t))relative(&d->accessor);
    if (accessor != NULL) search->body(accessor(0).metadata, search->context);
  }
  return true;
}

void tarn_subclasses(
    const void *root, void (*body)(const void *metadata, void *context), void *context) {
  struct search search = {
    ((const struct class_descriptor *const *)root)[DESCRIPTOR_WORD], body, context};
  swift_enumerateAllMetadataSections(visit, &search);
}

// Counts one binary.
static bool count(const struct sections *sections, void *context) {
  (void)sections;
  ++*(int64_t *)context;
  return true;
}

int64_t tarn_binary_count(void) {
  int64_t found = 0;
  swift_enumerateAllMetadataSections(count, &found);
  return found;
}
