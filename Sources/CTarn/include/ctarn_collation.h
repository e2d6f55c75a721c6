#ifndef CTARN_COLLATION_H
#define CTARN_COLLATION_H
#include <stdbool.h>
#include <stdint.h>

// The order of strings in a language, from ICU: Debian's libicu-dev. ICU's function names contain
// its version, which only C macros resolve.

// A collator. Any number of threads may create keys at the same time.
typedef struct tarn_collator tarn_collator;

// The collator of a locale such as "sv_SE" or "de@collation=phonebook". For a locale that ICU does
// not know, the collator of its language, or else the root collator. NULL without memory or without
// ICU's data.
tarn_collator *tarn_collator_open(
    const char *locale, bool ignores_case, bool ignores_diacritics, bool is_numeric);

// Closes the collator.
void tarn_collator_close(tarn_collator *collator);

// Writes a zero-terminated sort key, whose bytes compare like the strings, if it takes no more than
// `capacity` bytes. Returns its length; 0 if the string is too long for ICU.
int32_t tarn_collator_key(
    const tarn_collator *collator, const uint16_t *text, int32_t length, uint8_t *key,
    int32_t capacity);
#endif
