#include "ctarn_sums.h"

#include <string.h>

// Operators apply to both lanes, in vector registers if the processor has them.
typedef double doubles __attribute__((vector_size(16)));
typedef int64_t words __attribute__((vector_size(16)));

// The scale, the same in both lanes.
struct lanes {
  doubles coarse;
  doubles fine;
  doubles bound;
};

struct split {
  words coarse;
  words fine;
  // All bits set if the value is the sum of its parts.
  words fits;
};

// Adding 1.5 * 2^52 units leaves no bits for fractions of a unit: the sum's bits are those of the
// constant plus the rounded number of units. Both subtractions and `rest` are exact.
static inline struct split split(struct lanes scale, doubles value) {
  doubles whole = value + scale.coarse;
  doubles rest = value - (whole - scale.coarse);
  doubles part = rest + scale.fine;
  return (struct split){
      .coarse = (words)whole - (words)scale.coarse,
      .fine = (words)part - (words)scale.fine,
      .fits = (words)(part - scale.fine == rest) & (words)(value < scale.bound)
          & (words)(value > -scale.bound)};
}

// Both parts in one load and one store.
static inline void add(struct tarn_split_sum *sum, words parts) {
  words before;
  memcpy(&before, sum, sizeof before);
  before += parts;
  memcpy(sum, &before, sizeof before);
}

// Adds one row. Returns 1 if its value does not fit and is skipped.
static inline uint64_t add_row(struct lanes scale, double value, struct tarn_split_sum *sum) {
  struct split s = split(scale, (doubles){value, 0});
  if (!s.fits[0]) return 1;
  add(sum, (words){s.coarse[0], s.fine[0]});
  return 0;
}

// Adds the first rows, at most 64. Returns a bit for each skipped row.
static inline uint64_t add_first(
    struct lanes scale, int count, const double *values, const int32_t *groups,
    struct tarn_split_sum *sums) {
  uint64_t misfits = 0;
  int row = 0;
  for (; row + 1 < count; row += 2) {
    doubles pair;
    memcpy(&pair, values + row, sizeof pair);
    struct split s = split(scale, pair);
    if (__builtin_expect(__builtin_reduce_and(s.fits) == 0, 0)) {
      misfits |= add_row(scale, values[row], sums + groups[row]) << row;
      misfits |= add_row(scale, values[row + 1], sums + groups[row + 1]) << (row + 1);
      continue;
    }
    add(sums + groups[row], __builtin_shufflevector(s.coarse, s.fine, 0, 2));
    add(sums + groups[row + 1], __builtin_shufflevector(s.coarse, s.fine, 1, 3));
  }
  if (row < count) misfits |= add_row(scale, values[row], sums + groups[row]) << row;
  return misfits;
}

size_t tarn_sum_by_group(
    struct tarn_sum_scale given, const double *values, const int32_t *groups,
    const uint64_t *rows, size_t count, struct tarn_split_sum *sums, uint64_t *misfits) {
  const struct lanes scale = {
      {given.coarse, given.coarse}, {given.fine, given.fine}, {given.bound, given.bound}};
  size_t left_out = 0;
  for (size_t word = 0; word < count; word++, values += 64, groups += 64) {
    uint64_t left = rows[word], misfit = 0;
    if ((left & (left + 1)) == 0) {
      misfit = add_first(scale, __builtin_popcountll(left), values, groups, sums);
    } else {
      for (; left != 0; left &= left - 1) {
        int row = __builtin_ctzll(left);
        misfit |= add_row(scale, values[row], sums + groups[row]) << row;
      }
    }
    misfits[word] = misfit;
    left_out += (size_t)__builtin_popcountll(misfit);
  }
  return left_out;
}
