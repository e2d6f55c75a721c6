#ifndef CTARN_COLLATION_H
#define CTARN_COLLATION_H
#include <stdbool.h>
#include <stdint.h>

// The order of text in a language, by ICU: Debian's libicu-dev. ICU has its version in the names of
// its functions, which only C sees through.

// The rules of one order. Any number of threads may ask for keys at the same time.
typedef struct tarn_collator tarn_collator;

// The rules of a locale such as "sv_SE" or "de@collation=phonebook"; of one that ICU does not know
// those of its language, or else of no language. NULL without memory or without ICU's data.
tarn_collator *tarn_collator_open(
    const char *locale, bool ignores_case, bool ignores_diacritics, bool is_numeric);

// Ends it.
void tarn_collator_close(tarn_collator *collator);

// Writes a key that orders byte by byte as the text does, with a zero behind it, if that takes no
// more than `capacity` bytes. Returns how many it takes; 0 if the text is too long for ICU.
int32_t tarn_collator_key(
    const tarn_collator *collator, const uint16_t *text, int32_t length, uint8_t *key,
    int32_t capacity);
#endif
