#include "ctarn_cluster.h"

// Four bits at a time, for processors without the instruction. Small, not fast.
static uint32_t crc_portable(uint32_t crc, const uint8_t *p, size_t count) {
  static const uint32_t table[16] = {
      0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
      0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
      0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
  for (; count > 0; count--) {
    crc ^= *p++;
    crc = (crc >> 4) ^ table[crc & 15];
    crc = (crc >> 4) ^ table[crc & 15];
  }
  return crc;
}

#if defined(__x86_64__)
#include <immintrin.h>

enum { LANE_BYTES = 256 };

// The instruction takes three cycles and can start every cycle, so three lanes run in parallel. A
// lane's sum is advanced past the bytes after it by a carry-less multiplication with x^(8 * bytes -
// 33) mod P, whose 64-bit product the instruction itself reduces.
__attribute__((target("sse4.2,pclmul")))
static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *p, size_t count) {
  const __m128i over_one = _mm_cvtsi64_si128(0xb9e02b86);
  const __m128i over_two = _mm_cvtsi64_si128(0xdd7e3b0c);
  for (; count >= 3 * LANE_BYTES; count -= 3 * LANE_BYTES, p += 3 * LANE_BYTES) {
    uint64_t a = crc, b = 0, c = 0;
    for (int i = 0; i < LANE_BYTES; i += 8) {
      a = _mm_crc32_u64(a, tarn_u64(p + i));
      b = _mm_crc32_u64(b, tarn_u64(p + LANE_BYTES + i));
      c = _mm_crc32_u64(c, tarn_u64(p + 2 * LANE_BYTES + i));
    }
    __m128i moved = _mm_xor_si128(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)a), over_two, 0),
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)b), over_one, 0));
    crc = (uint32_t)(_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(moved)) ^ c);
  }
  for (; count >= 8; count -= 8, p += 8) crc = (uint32_t)_mm_crc32_u64(crc, tarn_u64(p));
  for (; count > 0; count--) crc = _mm_crc32_u8(crc, *p++);
  return crc;
}

uint32_t tarn_crc32c_after(uint32_t before, const void *bytes, size_t count) {
  int fast = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  return ~(fast ? crc_by_instruction : crc_portable)(~before, bytes, count);
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

uint32_t tarn_crc32c_after(uint32_t before, const void *bytes, size_t count) {
  const uint8_t *p = bytes;
  uint32_t crc = ~before;
  for (; count >= 8; count -= 8, p += 8) crc = __crc32cd(crc, tarn_u64(p));
  return ~crc_portable(crc, p, count);
}
#else
uint32_t tarn_crc32c_after(uint32_t before, const void *bytes, size_t count) {
  return ~crc_portable(~before, bytes, count);
}
#endif
