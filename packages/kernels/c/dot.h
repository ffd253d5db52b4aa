// Integer dot products of sixteen lanes for attention over an int8 cache: each lane adds the products of four codes. Sums are exact.
//
//   dot_keys(sum, keys, query)       16 keys, codes as `load_keys` gives them, times four codes of a row of queries
//   dot_values(sum, values, weights) 16 channels, signed codes, times four weights of 0 to 127
//   dot_vectors(sum, codes, weights) signed codes times weights of 0 to 127, of which each lane has its own
#pragma once
#include "vector.h"

typedef uint8_t v64u __attribute__((vector_size(64)));
typedef v64u v64u_memory __attribute__((aligned(1), may_alias));
INLINE v64u load_quads(const uint8_t *p) { return *(const v64u_memory *)p; }

#if defined(__AVX512VNNI__) && !defined(__AVXVNNI__)
#define DOT_IS_WIDE 1
#endif

enum {
#if defined(DOT_IS_WIDE)
  /** Rows whose sums of scores fit the registers; rows and vectors of channels whose sums of values do. */
  INT8_SCORE_ROWS = 8,
  INT8_VALUE_ROWS = 4,
  INT8_VECTORS = 2,
  /** Of blocks of two or three rows: one after the other where each takes several instructions, which spares functions. */
  INT8_FEW_ROWS = 3,
#else
  INT8_SCORE_ROWS = 4,
  INT8_VALUE_ROWS = 2,
  INT8_VECTORS = 1,
  INT8_FEW_ROWS = 1,
#endif
#if defined(DOT_IS_WIDE) || defined(__AVXVNNI__)
  /** Whether keys are multiplied with the 128 that they carry; sums of scores begin with what undoes it. */
  KEYS_CARRY_128 = 1,
#else
  KEYS_CARRY_128 = 0,
#endif
};

INLINE v64u load_keys(const uint8_t *p) {
  const v64u keys = load_quads(p);
  return KEYS_CARRY_128 ? keys : keys ^ (uint8_t)128;
}

#if defined(DOT_IS_WIDE)
#include <immintrin.h>
INLINE v16i dot_keys(v16i sum, v64u keys, const int8_t *query) {
  return (v16i)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)keys, _mm512_set1_epi32(*(const int32_t *)query));
}
INLINE v16i dot_vectors(v16i sum, v64u codes, v64u weights) {
  return (v16i)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)weights, (__m512i)codes);
}
#elif defined(__AVX2__)
#include <immintrin.h>
typedef union { v16i sums; v64u codes; __m256i half[2]; } Halves;
#if defined(__AVXVNNI__)
INLINE __m256i dot8(__m256i sum, __m256i a, __m256i b) { return _mm256_dpbusd_avx_epi32(sum, a, b); }
#else
// Pairs of products stay below 2^15: 2 * 127 * 128.
INLINE __m256i dot8(__m256i sum, __m256i a, __m256i b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
}
#endif
INLINE v16i dot_keys(v16i sum, v64u keys, const int8_t *query) {
  const __m256i row = _mm256_set1_epi32(*(const int32_t *)query);
  const Halves codes = {.codes = keys};
  Halves sums = {.sums = sum};
  for (int h = 0; h < 2; h++) {
    const __m256i x = codes.half[h];
    // A signed key's sign moves to the query, because one side of the instruction has none.
    sums.half[h] = KEYS_CARRY_128 ? dot8(sums.half[h], x, row) : dot8(sums.half[h], _mm256_abs_epi8(x), _mm256_sign_epi8(row, x));
  }
  return sums.sums;
}
INLINE v16i dot_vectors(v16i sum, v64u codes, v64u weights) {
  const Halves x = {.codes = codes}, w = {.codes = weights};
  Halves sums = {.sums = sum};
  for (int h = 0; h < 2; h++) sums.half[h] = dot8(sums.half[h], w.half[h], x.half[h]);
  return sums.sums;
}
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
typedef union { v16i sums; v64u codes; int32x4_t sum[4]; int8x16_t code[4]; } Quarters;
INLINE v16i dot_keys(v16i sum, v64u keys, const int8_t *query) {
  const int8x16_t row = vreinterpretq_s8_s32(vld1q_dup_s32((const int32_t *)query));
  const Quarters codes = {.codes = keys};
  Quarters sums = {.sums = sum};
  for (int i = 0; i < 4; i++) sums.sum[i] = vdotq_s32(sums.sum[i], codes.code[i], row);
  return sums.sums;
}
INLINE v16i dot_vectors(v16i sum, v64u codes, v64u weights) {
  const Quarters x = {.codes = codes}, w = {.codes = weights};
  Quarters sums = {.sums = sum};
  for (int i = 0; i < 4; i++) sums.sum[i] = vdotq_s32(sums.sum[i], x.code[i], w.code[i]);
  return sums.sums;
}
#else // the definition
INLINE v16i dot_keys(v16i sum, v64u keys, const int8_t *query) {
  for (int n = 0; n < LANES; n++)
    for (int i = 0; i < 4; i++) sum[n] += (int8_t)keys[4 * n + i] * query[i];
  return sum;
}
INLINE v16i dot_vectors(v16i sum, v64u codes, v64u weights) {
  for (int n = 0; n < LANES; n++)
    for (int i = 0; i < 4; i++) sum[n] += (int8_t)codes[4 * n + i] * weights[4 * n + i];
  return sum;
}
#endif

INLINE v16i dot_values(v16i sum, v64u values, const uint8_t *weights) {
  int32_t quad;
  __builtin_memcpy(&quad, weights, sizeof quad);
  return dot_vectors(sum, values, (v64u)((v16i){0} + quad));
}

/** Each sixteen bytes, four of each of four rows, become four of each of the four columns. */
INLINE v64u turn_quads(v64u x) {
#define TURN(b) b, b + 4, b + 8, b + 12, b + 1, b + 5, b + 9, b + 13, b + 2, b + 6, b + 10, b + 14, b + 3, b + 7, b + 11, b + 15
  return __builtin_shufflevector(x, x, TURN(0), TURN(16), TURN(32), TURN(48));
#undef TURN
}

/** Sixteen bytes, of which each four fill four lanes. */
INLINE v64u spread_quads(const uint8_t *p) {
  v4i x;
  __builtin_memcpy(&x, p, sizeof x);
  return (v64u)__builtin_shufflevector(x, x, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}
