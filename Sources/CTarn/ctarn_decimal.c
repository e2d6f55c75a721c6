#include "ctarn_decimal.h"
#include "ctarn_packages.h"

// The variant of the library that takes operands, rounding mode and flags by address: passing does
// not depend on the compiler's convention for sixteen bytes, and threads share no state.
#define DECIMAL_CALL_BY_REFERENCE 1
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>

// In the library's form, whatever the order of bytes in 64-bit words.
static BID_UINT128 from(tarn_decimal value) {
  BID_UINT128 bits;
  bits.w[BID_HIGH_128W] = value.high;
  bits.w[BID_LOW_128W] = value.low;
  return bits;
}

// The reverse.
static tarn_decimal to(BID_UINT128 bits) {
  return (tarn_decimal){bits.w[BID_HIGH_128W], bits.w[BID_LOW_128W]};
}

typedef void operation(BID_UINT128 *, BID_UINT128 *, BID_UINT128 *, _IDEC_round *, _IDEC_flags *);

// Any of the four operations, with ties to even. The flags are ignored, because the result says the
// same.
static tarn_decimal apply(operation *operation, tarn_decimal a, tarn_decimal b) {
  BID_UINT128 x = from(a), y = from(b), result;
  _IDEC_round rounding = BID_ROUNDING_TO_NEAREST;
  _IDEC_flags flags = 0;
  operation(&result, &x, &y, &rounding, &flags);
  return to(result);
}

tarn_decimal tarn_decimal_add(tarn_decimal a, tarn_decimal b) { return apply(bid128_add, a, b); }
tarn_decimal tarn_decimal_subtract(tarn_decimal a, tarn_decimal b) {
  return apply(bid128_sub, a, b);
}
tarn_decimal tarn_decimal_multiply(tarn_decimal a, tarn_decimal b) {
  return apply(bid128_mul, a, b);
}
tarn_decimal tarn_decimal_divide(tarn_decimal a, tarn_decimal b) {
  return apply(bid128_div, a, b);
}

tarn_decimal tarn_decimal_parse(const char *text, bool *exact) {
  BID_UINT128 result;
  _IDEC_round rounding = BID_ROUNDING_TO_NEAREST;
  _IDEC_flags flags = 0;
  // Only read, although the library does not declare it const.
  bid128_from_string(&result, (char *)text, &rounding, &flags);
  *exact = (flags & BID_INEXACT_EXCEPTION) == 0;
  return to(result);
}

// Sets the inexact flag if the double differs from the number.
static double to_double(tarn_decimal value, _IDEC_round rounding, _IDEC_flags *flags) {
  BID_UINT128 bits = from(value);
  double result;
  bid128_to_binary64(&result, &bits, &rounding, flags);
  return result;
}

double tarn_decimal_to_double(tarn_decimal value) {
  _IDEC_flags flags = 0;
  return to_double(value, BID_ROUNDING_TO_NEAREST, &flags);
}

double tarn_decimal_to_double_below(tarn_decimal value, bool *exact) {
  _IDEC_flags flags = 0;
  double result = to_double(value, BID_ROUNDING_DOWN, &flags);
  *exact = (flags & BID_INEXACT_EXCEPTION) == 0;
  return result;
}
