// Shared by the floors: time, random numbers, the packed row, paths, memory reads.
#include "floors_support.h"
#include "floors_packages.h"
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Seconds of the monotonic clock, which all processes of a machine share.
double bf_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Pauses this thread between wakes; a signal may end it early, which is harmless.
void bf_pause(double seconds) {
  struct timespec rest = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&rest, NULL);
}

// The next number of a splitmix64 sequence. Any state is valid.
uint64_t bf_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// The id of update `number`: a scattered order over 1...rows, the same in every engine.
int64_t bf_scattered(int64_t number, int64_t rows) {
  uint64_t state = (uint64_t)number * 0xd1342543de82ef95ull;
  return (int64_t)(bf_random(&state) % (uint64_t)rows) + 1;
}

void bf_person_make(int64_t id, struct bf_person *person) {
  uint64_t state = (uint64_t)id;
  memset(person, 0, sizeof *person);
  person->id = id;
  uint64_t bits = bf_random(&state);
  person->age = (int64_t)(bits % 100);
  person->is_active = (bits >> 32) & 1;
  unsigned city = (unsigned)((bits >> 40) % 100);
  memcpy(person->city, "city-", 5);
  person->city[5] = (char)('0' + city / 10);
  person->city[6] = (char)('0' + city % 10);
  person->score = (double)(bf_random(&state) >> 11) * 0x1p-53;
  person->dob = (int64_t)(bf_random(&state) % 1600000000);
  uint64_t letters = bf_random(&state);
  for (int i = 0; i < BF_NAME_BYTES; i++) {
    person->name[i] = (char)('a' + letters % 26);
    letters /= 26;
  }
}

// Writes the person's row and returns its length.
size_t bf_row_pack(const struct bf_person *person, unsigned char row[BF_ROW_BYTES_MAX]) {
  size_t city_bytes = strlen(person->city);
  memcpy(row, &person->id, 8);
  memcpy(row + BF_ROW_AGE, &person->age, 8);
  memcpy(row + BF_ROW_SCORE, &person->score, 8);
  memcpy(row + BF_ROW_DOB, &person->dob, 8);
  row[BF_ROW_ACTIVE] = person->is_active;
  row[BF_ROW_NAME] = BF_NAME_BYTES;
  memcpy(row + BF_ROW_NAME + 1, person->name, BF_NAME_BYTES);
  row[BF_ROW_NAME + 1 + BF_NAME_BYTES] = (unsigned char)city_bytes;
  memcpy(row + BF_ROW_NAME + 2 + BF_NAME_BYTES, person->city, city_bytes);
  return BF_ROW_NAME + 2 + BF_NAME_BYTES + city_bytes;
}

// Reads a whole row; EINVAL if it is not one.
int bf_row_unpack(const void *bytes, size_t count, struct bf_person *person) {
  const unsigned char *row = bytes;
  const size_t fixed = BF_ROW_NAME + 2 + BF_NAME_BYTES;
  memset(person, 0, sizeof *person);
  if (count < fixed || row[BF_ROW_NAME] != BF_NAME_BYTES) return EINVAL;
  size_t city_bytes = row[fixed - 1];
  if (count != fixed + city_bytes || city_bytes >= sizeof person->city) return EINVAL;
  memcpy(&person->id, row, 8);
  memcpy(&person->age, row + BF_ROW_AGE, 8);
  memcpy(&person->score, row + BF_ROW_SCORE, 8);
  memcpy(&person->dob, row + BF_ROW_DOB, 8);
  person->is_active = row[BF_ROW_ACTIVE];
  memcpy(person->name, row + BF_ROW_NAME + 1, BF_NAME_BYTES);
  memcpy(person->city, row + fixed, city_bytes);
  return 0;
}

// Joins a folder and a file's name.
int bf_path(const char *folder, const char *name, char path[BF_PATH_BYTES]) {
  int length = snprintf(path, BF_PATH_BYTES, "%s/%s", folder, name);
  return length < 0 || length >= BF_PATH_BYTES ? ENAMETOOLONG : 0;
}

const char *bf_error_text(int error) {
  if (error >= BF_SQLITE_ERROR) return sqlite3_errstr(error - BF_SQLITE_ERROR);
  return mdb_strerror(error);
}

// The twelve bytes at `name` as numbers, most significant byte first.
struct bf_named bf_named_make(const char *name, int64_t id) {
  struct bf_named named;
  memcpy(&named.high, name, 8);
  memcpy(&named.low, name + 8, 4);
  named.high = __builtin_bswap64(named.high);
  named.low = __builtin_bswap32(named.low);
  named.id = id;
  return named;
}

// Orders by name, then by id; for qsort() and the binary searches.
int bf_named_compare(const void *left, const void *right) {
  const struct bf_named *a = left, *b = right;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

// The rows stay in the first-level cache, so that the read is measured and not the memory. The
// empty asm statements keep the compiler from dropping a read whose value is unused.
int bf_memory_reads(int64_t reads, double *int_nanoseconds, double *string_nanoseconds) {
  enum { ROWS = 128 };
  unsigned char *rows = malloc(ROWS * BF_ROW_BYTES_MAX);
  if (!rows) return ENOMEM;
  for (int i = 0; i < ROWS; i++) {
    struct bf_person person;
    bf_person_make(i + 1, &person);
    bf_row_pack(&person, rows + i * BF_ROW_BYTES_MAX);
  }
  double start = bf_now();
  for (int64_t i = 0; i < reads; i++) {
    int64_t age;
    memcpy(&age, rows + (i % ROWS) * BF_ROW_BYTES_MAX + BF_ROW_AGE, 8);
    __asm__ volatile("" : : "r"(age) : "memory");
  }
  double middle = bf_now();
  for (int64_t i = 0; i < reads; i++) {
    char name[16];
    const unsigned char *row = rows + (i % ROWS) * BF_ROW_BYTES_MAX;
    unsigned length = row[BF_ROW_NAME];
    memcpy(name, row + BF_ROW_NAME + 1, length < sizeof name ? length : sizeof name);
    __asm__ volatile("" : : "r"(name) : "memory");
  }
  double end = bf_now();
  free(rows);
  *int_nanoseconds = (middle - start) * 1e9 / (double)reads;
  *string_nanoseconds = (end - middle) * 1e9 / (double)reads;
  return 0;
}

int64_t bf_heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}
