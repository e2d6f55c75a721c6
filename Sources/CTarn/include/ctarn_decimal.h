#ifndef CTARN_DECIMAL_H
#define CTARN_DECIMAL_H
#include <stdbool.h>
#include <stdint.h>

// Arithmetic of decimal128 (IEEE 754-2008, the binary encoding of the coefficient), with Intel's
// Decimal Floating-Point Math Library: Debian's libintelrdfpmath-dev, for x86-64 and arm64. The
// compiler has no _Decimal128 on either, which the routines in libgcc need; Intel's take two
// numbers in memory, which any compiler can pass. Every result is rounded correctly, to even on
// ties; nothing traps, and no state is kept between calls.

// The sixteen bytes of a decimal number, most significant first.
typedef struct {
  uint64_t high, low;
} tarn_decimal;

// Results follow IEEE 754-2008: sign, cohort, infinities and not-a-number included.
tarn_decimal tarn_decimal_add(tarn_decimal a, tarn_decimal b);
tarn_decimal tarn_decimal_subtract(tarn_decimal a, tarn_decimal b);
tarn_decimal tarn_decimal_multiply(tarn_decimal a, tarn_decimal b);
tarn_decimal tarn_decimal_divide(tarn_decimal a, tarn_decimal b);

// The nearest decimal to a number in ASCII: an optional sign, at most 90 digits (past about a
// hundred the library rounds some ties up), `E` and an exponent of at most five digits. `*exact` is
// whether the result equals the number and is not zero.
tarn_decimal tarn_decimal_parse(const char *text, bool *exact);
// The nearest double, to even on ties; infinite or zero out of range.
double tarn_decimal_to_double(tarn_decimal value);
// The greatest double that is not above the value; `*exact` is whether it equals the value.
double tarn_decimal_to_double_below(tarn_decimal value, bool *exact);
#endif
