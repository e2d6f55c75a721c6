#ifndef CTARN_SUMS_H
#define CTARN_SUMS_H
#include <stddef.h>
#include <stdint.h>

// Exact sums of doubles by group. A double is split into two whole numbers: how often it has a
// coarse unit, to the nearest, and how often what is left has a fine one. Both units are powers of
// two, and a coarse one has 2^42 fine ones. Sums of whole numbers are exact.
enum { TARN_SUM_PART_BITS = 42 };

struct tarn_sum_scale {
  // 1.5 * 2^52 units: a double plus that, less that, is a multiple of the unit.
  double coarse;
  double fine;
  // Doubles from that on have more than 2^42 coarse units.
  double bound;
};

// Two parts of a sum, side by side for one load and one store.
struct tarn_split_sum {
  int64_t coarse;
  int64_t fine;
};

// Adds the value of each row that has a bit in `rows`, of that many words, to the sum of the row's
// group. A value that is not a sum of such units, NaN and infinities among them, is left out and
// its row's bit set in `misfits`, which is as long. Returns how many these are.
size_t tarn_sum_by_group(
    struct tarn_sum_scale scale, const double *values, const int32_t *groups,
    const uint64_t *rows, size_t words, struct tarn_split_sum *sums, uint64_t *misfits);
#endif
