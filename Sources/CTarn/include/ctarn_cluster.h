#ifndef CTARN_CLUSTER_H
#define CTARN_CLUSTER_H
#include <stdint.h>
#include <string.h>

// The bytes of a cluster, as far as the hot read path must know them. Little endian, nothing
// aligned: LMDB promises no alignment inside a page, so every load goes through memcpy.
//
//   0  u8   format, 1
//   1  u8   flags, 0
//   2  u16  rows
//   4  u16  columns described
//   6  u16  bytes in all
//   8  u32  checksum (CRC-32C) of the bytes from 12 on
//  12  u8   key width: 0 keys are base + slot; 1, 2, 4, 8 unsigned offsets from the base
//  13  u8   0
//  14  u16  where the key offsets start (0 if width is 0)
//  16  i64  key base
//  24  ...  column descriptors of 8 bytes: u8 kind, u8 width, u16 data, u16 nulls, u16 aux
//
// nulls: where the null bitmap starts (a set bit is a null), 0 if there is none.
enum {
  TARN_CLUSTER_HEADER_BYTES = 24,
  TARN_CLUSTER_DESCRIPTOR_BYTES = 8,
};
enum tarn_column_kind {
  // Nothing stored: every row has null (optional column) or the type's zero.
  TARN_KIND_ABSENT = 0,
  // aux: i64 base; data: unsigned offsets from it, width 0, 1, 2, 4 or 8 bytes.
  TARN_KIND_INT = 1,
  // data: bitmap.
  TARN_KIND_BOOL = 2,
  // data: width bytes a row, as they are (float, double, object id, uuid).
  TARN_KIND_FIXED = 3,
  // data: seconds as in KIND_INT with the base at aux; at aux + 8: i32 nanosecond base, then
  // u8 width 0 or 4, then that many bytes a row: nanoseconds less the base.
  TARN_KIND_DATE = 4,
  // data: u16 ends, one more than rows, counted from aux, where the bytes start.
  TARN_KIND_BYTES = 5,
  // data: u8 codes; aux: u16 entries, u16 ends (one more than entries) from the byte after
  // the ends, bytes.
  TARN_KIND_DICTIONARY = 6,
};
// In `width` of BYTES and DICTIONARY: a bitmap of rows lies right before `data` whose value is
// kept elsewhere, in pieces; the row's own bytes then are the value's length as u64.
enum { TARN_LONG_BITMAP = 0x80 };

struct tarn_column {
  uint8_t kind;
  uint8_t width;
  uint16_t data;
  uint16_t nulls;
  uint16_t aux;
};
#endif
