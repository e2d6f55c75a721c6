#ifndef CTARN_CLUSTER_H
#define CTARN_CLUSTER_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The bytes of a cluster, and the loads of the hot read path. Little endian and unaligned: LMDB
// guarantees no alignment inside a page, so every load uses memcpy.
//
//   0  u8   format, 1
//   1  u8   flags, 0
//   2  u16  rows
//   4  u16  columns described; a column past them is absent
//   6  u16  total bytes
//   8  u32  checksum (CRC-32C) of the bytes from 12 on
//  12  u8   key width: 0 keys are base + slot; 1, 2, 4, 8 unsigned offsets from the base
//  13  u8   0
//  14  u16  where the key offsets start (meaningless if the width is 0)
//  16  i64  key base
//  24  ...  column descriptors of 8 bytes: u8 kind, u8 width, u16 data, u16 nulls, u16 aux
//  ...      key offsets, then the data of each column's descriptor, in their order, without
//           overlaps, so that a value written in place changes no other
//  ...      16 bytes of padding that no descriptor points into
//
// nulls: where the null bitmap starts (a set bit is a null), 0 if there is none; it precedes the
// column's other parts, which follow in the order given below. The padding lets a load of up to 16
// bytes start at any byte of data: an integer of any width is one masked load, a string of up to
// 15 bytes two.
enum {
  TARN_CLUSTER_FORMAT = 1,
  TARN_CLUSTER_HEADER_BYTES = 24,
  TARN_CLUSTER_DESCRIPTOR_BYTES = 8,
  TARN_CLUSTER_PADDING_BYTES = 16,
  TARN_CLUSTER_CHECKED_FROM = 12,
};
enum {
  // Nothing stored: every row is null (optional column) or the type's zero.
  TARN_KIND_ABSENT = 0,
  // aux: i64 base; data: unsigned offsets from it, width 0, 1, 2, 4 or 8 bytes.
  TARN_KIND_INT = 1,
  // data: bitmap.
  TARN_KIND_BOOL = 2,
  // data: width bytes per row, unchanged (4 float, 8 double, 12 object id, 16 uuid).
  TARN_KIND_FIXED = 3,
  // aux: i64 base of the seconds, i32 base of the nanoseconds, then nanoseconds less their base in
  // 0 or 4 bytes per row; data: seconds as in KIND_INT. width: that of the seconds in the low four
  // bits, that of the nanoseconds in the high ones.
  TARN_KIND_DATE = 4,
  // data: u16 ends, one more than rows, counted from aux, where the bytes start.
  TARN_KIND_BYTES = 5,
  // width: entries; data: u8 codes; aux: u16 ends, one more than entries, counted from the byte
  // after the ends, bytes.
  TARN_KIND_DICTIONARY = 6,
  // Nothing stored: the value is the row's key.
  TARN_KIND_KEY = 7,
};
// In `width` of BYTES: a bitmap of the rows whose value is stored elsewhere, in pieces, lies right
// before `data`; such a row's own bytes are the value's length as u64.
enum { TARN_LONG_BITMAP = 0x80 };

struct tarn_column {
  uint8_t kind;
  uint8_t width;
  uint16_t data;
  uint16_t nulls;
  uint16_t aux;
};

// The result of a load. VALUE and NULL are final: a NULL comes with the type's zero, so the getter
// of a non-optional property need not distinguish them. LONG: the bytes are stored elsewhere. SLOW:
// the cluster does not describe the column, has no such slot or is damaged; the caller finds out
// which.
enum tarn_state {
  TARN_STATE_VALUE = 0,
  TARN_STATE_NULL = 1,
  TARN_STATE_LONG = 2,
  TARN_STATE_SLOW = 3,
};

struct tarn_int { int64_t value; enum tarn_state state; };
struct tarn_bool { uint32_t value; enum tarn_state state; };
struct tarn_float { float value; enum tarn_state state; };
struct tarn_double { double value; enum tarn_state state; };
struct tarn_date { int64_t seconds; int32_t nanoseconds; enum tarn_state state; };
// Numbers from the bytes, most significant byte first.
struct tarn_bytes12 { uint64_t high; uint32_t low; enum tarn_state state; };
struct tarn_bytes16 { uint64_t high; uint64_t low; enum tarn_state state; };
// `length` of a LONG value is that of the value elsewhere; `bytes` is then meaningless. Safe to
// Swift: the bytes are copied before the instance that they were read through can advance.
struct __attribute__((swift_attr("safe"))) tarn_bytes {
  const uint8_t *bytes;
  uint64_t length;
  enum tarn_state state;
};

// `pure`, so that Swift neither retains the owner of the bytes around a call nor repeats a call.
#define TARN_LOAD static inline __attribute__((always_inline, pure))

// The number at p, aligned or not.
TARN_LOAD uint16_t tarn_u16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
TARN_LOAD uint32_t tarn_u32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
TARN_LOAD uint64_t tarn_u64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

// The unsigned number of `width` (0, 1, 2, 4 or 8) bytes at p: one load, no branch. Two shifts,
// because one by 64 would be undefined.
TARN_LOAD uint64_t tarn_packed(const uint8_t *p, uint32_t width) {
  return tarn_u64(p) & (((UINT64_C(1) << 4 * width) << 4 * width) - 1);
}

// Prefetches the bytes, so that reading them in order does not wait for each cache line.
static inline __attribute__((always_inline)) void tarn_prefetch(const void *bytes, size_t count) {
  for (size_t at = 0; at < count; at += 64) __builtin_prefetch((const uint8_t *)bytes + at);
}

// A slot's bit in a bitmap: the lowest bit of the first byte is slot 0.
TARN_LOAD uint32_t tarn_bit(const uint8_t *bitmap, uint32_t slot) {
  return (bitmap[slot >> 3] >> (slot & 7)) & 1;
}

// True if the cluster describes the column and has the slot.
TARN_LOAD int tarn_cluster_has(const void *image, uint32_t column, uint32_t slot) {
  uint64_t header = tarn_u64((const uint8_t *)image);
  return slot < ((header >> 16) & 0xffff) && column < ((header >> 32) & 0xffff);
}

// The descriptor of a column that the cluster describes.
TARN_LOAD struct tarn_column tarn_cluster_column(const void *image, uint32_t column) {
  struct tarn_column c;
  memcpy(&c, (const uint8_t *)image + TARN_CLUSTER_HEADER_BYTES + 8 * (size_t)column, 8);
  return c;
}

// The offset of a column's first part, 0 if it stores nothing.
TARN_LOAD uint32_t tarn_column_start(struct tarn_column c) {
  if (c.kind == TARN_KIND_ABSENT || c.kind == TARN_KIND_KEY) return 0;
  if (c.nulls != 0) return c.nulls;
  return c.aux != 0 && c.aux < c.data ? c.aux : c.data;
}

// Prefetches a column's bytes in a cluster of that many bytes: up to the start of the next column,
// and 2 KiB at most, because more would evict earlier prefetches. The bytes need not be validated
// yet; only the header and descriptors inside the cluster are read.
static inline __attribute__((always_inline)) void tarn_cluster_prefetch(
    const void *image, size_t bytes, uint32_t column) {
  enum { MOST = 2048 };
  const uint8_t *p = (const uint8_t *)image;
  if (bytes < TARN_CLUSTER_HEADER_BYTES) return;
  size_t room = (bytes - TARN_CLUSTER_HEADER_BYTES) / TARN_CLUSTER_DESCRIPTOR_BYTES;
  uint32_t columns = tarn_u16(p + 4);
  if (columns > room || column >= columns) return;
  uint32_t start = tarn_column_start(tarn_cluster_column(p, column));
  uint32_t end = 0;
  while (end == 0 && ++column < columns) end = tarn_column_start(tarn_cluster_column(p, column));
  if (end == 0) end = (uint32_t)bytes;
  if (start == 0 || end <= start) return;
  tarn_prefetch(p + start, end - start < MOST ? end - start : MOST);
}

// Has the slot a null in that column?
TARN_LOAD int tarn_is_null(const uint8_t *p, struct tarn_column c, uint32_t slot) {
  return c.nulls != 0 && tarn_bit(p + c.nulls, slot);
}

// The key of a slot that exists.
TARN_LOAD int64_t tarn_cluster_key(const void *image, uint32_t slot) {
  const uint8_t *p = (const uint8_t *)image;
  uint32_t width = p[12];
  uint64_t offset = width == 0 ? slot : tarn_packed(p + tarn_u16(p + 14) + slot * width, width);
  return (int64_t)(tarn_u64(p + 16) + offset);
}

// The result of a load for a column of another kind.
TARN_LOAD enum tarn_state tarn_other_kind(struct tarn_column c) {
  return c.kind == TARN_KIND_ABSENT ? TARN_STATE_NULL : TARN_STATE_SLOW;
}

// The loads below never read outside a validated image, whatever the column and slot, and return
// SLOW for an image without columns.

// An integer, a link's object key, or the row's own key.
TARN_LOAD struct tarn_int tarn_cluster_int(const void *image, uint32_t column, uint32_t slot) {
  const uint8_t *p = (const uint8_t *)image;
  if (!tarn_cluster_has(p, column, slot)) return (struct tarn_int){0, TARN_STATE_SLOW};
  struct tarn_column c = tarn_cluster_column(p, column);
  if (__builtin_expect(c.kind != TARN_KIND_INT, 0)) {
    if (c.kind == TARN_KIND_KEY)
      return (struct tarn_int){tarn_cluster_key(p, slot), TARN_STATE_VALUE};
    return (struct tarn_int){0, tarn_other_kind(c)};
  }
  if (tarn_is_null(p, c, slot)) return (struct tarn_int){0, TARN_STATE_NULL};
  uint64_t offset = tarn_packed(p + c.data + slot * c.width, c.width);
  return (struct tarn_int){(int64_t)(tarn_u64(p + c.aux) + offset), TARN_STATE_VALUE};
}

// One bit of a BOOL column.
TARN_LOAD struct tarn_bool tarn_cluster_bool(const void *image, uint32_t column, uint32_t slot) {
  const uint8_t *p = (const uint8_t *)image;
  if (!tarn_cluster_has(p, column, slot)) return (struct tarn_bool){0, TARN_STATE_SLOW};
  struct tarn_column c = tarn_cluster_column(p, column);
  if (__builtin_expect(c.kind != TARN_KIND_BOOL, 0))
    return (struct tarn_bool){0, tarn_other_kind(c)};
  if (tarn_is_null(p, c, slot)) return (struct tarn_bool){0, TARN_STATE_NULL};
  return (struct tarn_bool){tarn_bit(p + c.data, slot), TARN_STATE_VALUE};
}

// The position of a slot's bytes in a FIXED column of that width, and their state.
TARN_LOAD struct tarn_bytes tarn_cluster_fixed(
    const void *image, uint32_t column, uint32_t slot, uint32_t width) {
  const uint8_t *p = (const uint8_t *)image;
  if (!tarn_cluster_has(p, column, slot)) return (struct tarn_bytes){p, 0, TARN_STATE_SLOW};
  struct tarn_column c = tarn_cluster_column(p, column);
  if (__builtin_expect(c.kind != TARN_KIND_FIXED || c.width != width, 0))
    return (struct tarn_bytes){p, 0, tarn_other_kind(c)};
  if (tarn_is_null(p, c, slot)) return (struct tarn_bytes){p, 0, TARN_STATE_NULL};
  return (struct tarn_bytes){p + c.data + slot * width, width, TARN_STATE_VALUE};
}

// A FIXED column of 4 bytes as a float.
TARN_LOAD struct tarn_float tarn_cluster_float(
    const void *image, uint32_t column, uint32_t slot) {
  struct tarn_bytes b = tarn_cluster_fixed(image, column, slot, 4);
  struct tarn_float r = {0, b.state};
  if (b.state == TARN_STATE_VALUE) memcpy(&r.value, b.bytes, 4);
  return r;
}

// A FIXED column of 8 bytes as a double.
TARN_LOAD struct tarn_double tarn_cluster_double(
    const void *image, uint32_t column, uint32_t slot) {
  struct tarn_bytes b = tarn_cluster_fixed(image, column, slot, 8);
  struct tarn_double r = {0, b.state};
  if (b.state == TARN_STATE_VALUE) memcpy(&r.value, b.bytes, 8);
  return r;
}

// A FIXED column of 12 bytes as numbers, most significant byte first.
TARN_LOAD struct tarn_bytes12 tarn_cluster_bytes12(
    const void *image, uint32_t column, uint32_t slot) {
  struct tarn_bytes b = tarn_cluster_fixed(image, column, slot, 12);
  if (b.state != TARN_STATE_VALUE) return (struct tarn_bytes12){0, 0, b.state};
  return (struct tarn_bytes12){__builtin_bswap64(tarn_u64(b.bytes)),
                               __builtin_bswap32(tarn_u32(b.bytes + 8)), b.state};
}

// A FIXED column of 16 bytes as numbers, most significant byte first.
TARN_LOAD struct tarn_bytes16 tarn_cluster_bytes16(
    const void *image, uint32_t column, uint32_t slot) {
  struct tarn_bytes b = tarn_cluster_fixed(image, column, slot, 16);
  if (b.state != TARN_STATE_VALUE) return (struct tarn_bytes16){0, 0, b.state};
  return (struct tarn_bytes16){__builtin_bswap64(tarn_u64(b.bytes)),
                               __builtin_bswap64(tarn_u64(b.bytes + 8)), b.state};
}

// Seconds and nanoseconds, each its column's base plus the slot's offset.
TARN_LOAD struct tarn_date tarn_cluster_date(const void *image, uint32_t column, uint32_t slot) {
  const uint8_t *p = (const uint8_t *)image;
  if (!tarn_cluster_has(p, column, slot)) return (struct tarn_date){0, 0, TARN_STATE_SLOW};
  struct tarn_column c = tarn_cluster_column(p, column);
  if (__builtin_expect(c.kind != TARN_KIND_DATE, 0))
    return (struct tarn_date){0, 0, tarn_other_kind(c)};
  if (tarn_is_null(p, c, slot)) return (struct tarn_date){0, 0, TARN_STATE_NULL};
  uint32_t width = c.width & 15, fine = c.width >> 4;
  uint64_t seconds = tarn_u64(p + c.aux) + tarn_packed(p + c.data + slot * width, width);
  uint32_t nanoseconds = tarn_u32(p + c.aux + 8)
      + (uint32_t)tarn_packed(p + c.aux + 12 + slot * fine, fine);
  return (struct tarn_date){(int64_t)seconds, (int32_t)nanoseconds, TARN_STATE_VALUE};
}

// The bytes from `start` to `end` after `from`, unless they extend past the image.
TARN_LOAD struct tarn_bytes tarn_bytes_between(
    const uint8_t *p, uint32_t from, uint32_t start, uint32_t end) {
  if (__builtin_expect(start > end || from + end + 16 > tarn_u16(p + 6), 0))
    return (struct tarn_bytes){p, 0, TARN_STATE_SLOW};
  return (struct tarn_bytes){p + from + start, end - start, TARN_STATE_VALUE};
}

// The bytes of a string or data, from a BYTES or DICTIONARY column; LONG with only the length.
TARN_LOAD struct tarn_bytes tarn_cluster_bytes(
    const void *image, uint32_t column, uint32_t slot) {
  const uint8_t *p = (const uint8_t *)image;
  if (!tarn_cluster_has(p, column, slot)) return (struct tarn_bytes){p, 0, TARN_STATE_SLOW};
  struct tarn_column c = tarn_cluster_column(p, column);
  if (c.kind == TARN_KIND_BYTES) {
    if (tarn_is_null(p, c, slot)) return (struct tarn_bytes){p, 0, TARN_STATE_NULL};
    uint32_t ends = tarn_u32(p + c.data + 2 * slot);
    struct tarn_bytes r = tarn_bytes_between(p, c.aux, ends & 0xffff, ends >> 16);
    if (__builtin_expect(c.width != 0, 0)
        && tarn_bit(p + c.data - (tarn_u16(p + 2) + 7) / 8, slot)) {
      if (r.state != TARN_STATE_VALUE || r.length != 8)
        return (struct tarn_bytes){p, 0, TARN_STATE_SLOW};
      return (struct tarn_bytes){p, tarn_u64(r.bytes), TARN_STATE_LONG};
    }
    return r;
  }
  if (c.kind == TARN_KIND_DICTIONARY) {
    if (tarn_is_null(p, c, slot)) return (struct tarn_bytes){p, 0, TARN_STATE_NULL};
    uint32_t code = p[c.data + slot];
    if (__builtin_expect(code >= c.width, 0))
      return (struct tarn_bytes){p, 0, TARN_STATE_SLOW};
    uint32_t ends = tarn_u32(p + c.aux + 2 * code);
    return tarn_bytes_between(p, c.aux + 2 + 2u * c.width, ends & 0xffff, ends >> 16);
  }
  return (struct tarn_bytes){p, 0, tarn_other_kind(c)};
}

struct tarn_small { uint64_t low; uint64_t high; };
// The first `length` (at most 15) bytes of a result of tarn_cluster_bytes, followed by zeros: the
// words of Swift's small strings. Reads 16 bytes, which the padding makes safe for bytes in an
// image and for no others.
TARN_LOAD struct tarn_small tarn_small_bytes(const uint8_t *bytes, uint32_t length) {
  uint64_t low = tarn_u64(bytes), high = tarn_u64(bytes + 8);
  if (length < 8)
    return (struct tarn_small){low & ((UINT64_C(1) << 8 * length) - 1), 0};
  return (struct tarn_small){low, high & ((UINT64_C(1) << (8 * length & 63)) - 1)};
}

// An image without rows and columns: every load from it returns SLOW.
TARN_LOAD const void *tarn_cluster_empty(void) {
  static const uint8_t image[40] = {1, 0, 0, 0, 0, 0, 40, 0, 0x69, 0xc7, 0xc9, 0xf7};
  return image;
}

// CRC-32C (Castagnoli) of the bytes, continued from the CRC of the bytes before them, 0 if there
// are none. Uses the processor's instruction if it has one.
uint32_t tarn_crc32c_after(uint32_t before, const void *bytes, size_t count);
static inline uint32_t tarn_crc32c(const void *bytes, size_t count) {
  return tarn_crc32c_after(0, bytes, count);
}
#undef TARN_LOAD
#endif
