#ifndef CTARN_SUMS_H
#define CTARN_SUMS_H
#include <stddef.h>
#include <stdint.h>

// Exact sums of doubles by group. A double is split into two whole numbers: the nearest number of
// coarse units, and the number of fine units in the rest. Both units are powers of two, and a
// coarse one is 2^42 fine ones. Sums of whole numbers are exact.
enum { TARN_SUM_PART_BITS = 42 };

struct tarn_sum_scale {
  // 1.5 * 2^52 units: adding and subtracting it rounds a double to a multiple of the unit.
  double coarse;
  double fine;
  // Doubles of at least this size have more than 2^42 coarse units.
  double bound;
};

// The two parts of a sum, adjacent for one load and one store.
struct tarn_split_sum {
  int64_t coarse;
  int64_t fine;
};

// Adds the value of each row whose bit is set in the `words` words of `rows` to the sum of the
// row's group. A value that is not a sum of such units, such as NaN and infinities, is skipped and
// its row's bit set in `misfits`, which is as long. Returns the number of skipped rows.
size_t tarn_sum_by_group(
    struct tarn_sum_scale scale, const double *values, const int32_t *groups,
    const uint64_t *rows, size_t words, struct tarn_split_sum *sums, uint64_t *misfits);
#endif
