#include "ctarn_collation.h"
#include "ctarn_packages.h"
#include <stddef.h>
#include <unicode/ucol.h>

tarn_collator *tarn_collator_open(
    const char *locale, bool ignores_case, bool ignores_diacritics, bool is_numeric) {
  UErrorCode status = U_ZERO_ERROR;
  UCollator *collator = ucol_open(locale, &status);
  if (U_FAILURE(status)) return NULL;
  // Letters are the first level, diacritics the second and case the third; the case level can also
  // be enabled without diacritics.
  UColAttributeValue strength = ignores_diacritics ? UCOL_PRIMARY
                                : ignores_case     ? UCOL_SECONDARY
                                                   : UCOL_TERTIARY;
  ucol_setAttribute(collator, UCOL_STRENGTH, strength, &status);
  bool has_case_level = ignores_diacritics && !ignores_case;
  ucol_setAttribute(collator, UCOL_CASE_LEVEL, has_case_level ? UCOL_ON : UCOL_OFF, &status);
  ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, is_numeric ? UCOL_ON : UCOL_OFF, &status);
  // Composed and decomposed letters are equal, also with several marks.
  ucol_setAttribute(collator, UCOL_NORMALIZATION_MODE, UCOL_ON, &status);
  if (U_FAILURE(status)) {
    ucol_close(collator);
    return NULL;
  }
  return (tarn_collator *)collator;
}

void tarn_collator_close(tarn_collator *collator) { ucol_close((UCollator *)collator); }

int32_t tarn_collator_key(
    const tarn_collator *collator, const uint16_t *text, int32_t length, uint8_t *key,
    int32_t capacity) {
  return ucol_getSortKey(
      (const UCollator *)collator, (const UChar *)text, length, key, capacity);
}
