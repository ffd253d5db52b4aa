// One tile of weights times a panel, eight outputs at a time: AVX2, AVX-VNNI and NEON with dot products.
#pragma once
#include "panel.h"

typedef uint8_t v32u __attribute__((vector_size(32)));
typedef uint16_t v16us __attribute__((vector_size(32)));
typedef _Float16 v8h_memory __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint8_t v8u_memory __attribute__((vector_size(8), aligned(1), may_alias));
typedef int8_t v8c_memory __attribute__((vector_size(8), aligned(1), may_alias));
typedef v32u v32u_memory __attribute__((aligned(1), may_alias));

enum {
  /** Rows of a panel whose sums fit the registers: of a product, of scores, and of two vectors of values. */
  TILE_ROWS = 4,
  SCORE_ROWS = 2,
  VALUE_ROWS = 2,
  FEW_ROWS_VECTORS = 2,
};
/** Of a tile's outputs, in eights: how many stand in the code of a product's loop. */
#if defined(__AVX2__) && !defined(__AVXVNNI__)
#define HALVES_AT_ONCE 2
#else
#define HALVES_AT_ONCE 1
#endif

INLINE v8f splat8(float x) { return (v8f){x, x, x, x, x, x, x, x}; }
INLINE v8f load_half8(const void *p) { return __builtin_convertvector(*(const v8h_memory *)p, v8f); }
INLINE v8f load_unsigned8(const void *p) { return __builtin_convertvector(*(const v8u_memory *)p, v8f); }
INLINE v8f load_signed8(const void *p) { return __builtin_convertvector(*(const v8c_memory *)p, v8f); }
INLINE v32u load_bytes(const uint8_t *p) { return *(const v32u_memory *)p; }
INLINE v32u shift_right(v32u x, int bits) { return (v32u)((v16us)x >> bits); }
INLINE v32u shift_left(v32u x, int bits) { return (v32u)((v16us)x << bits); }
#if __has_builtin(__builtin_elementwise_fma)
INLINE v8f fma8(v8f a, v8f b, v8f c) { return __builtin_elementwise_fma(a, b, c); }
#else
INLINE v8f fma8(v8f a, v8f b, v8f c) {
  for (int i = 0; i < 8; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}
#endif

// `dot(format, sum, w, a)` adds the products of 4 unsigned codes with 4 activations of one row to each of eight outputs. `sum` holds
// those of `groups_of_sum(format)` groups, in 32 bits or in 16; `begin_sum` and `end_sum` go from 32 bits to it and back.
#if defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
typedef v8i Sum;
INLINE Sum dot(Format format, Sum sum, v32u w, const int8_t *a) {
  (void)format;
  const int8x16_t row = vreinterpretq_s8_s32(vld1q_dup_s32((const int32_t *)a));
  union { v32u all; int8x16_t half[2]; } weights = {w};
  union { v8i all; int32x4_t half[2]; } sums = {sum};
  sums.half[0] = vdotq_s32(sums.half[0], weights.half[0], row);
  sums.half[1] = vdotq_s32(sums.half[1], weights.half[1], row);
  return sums.all;
}
INLINE void prefetch(const void *p) { __builtin_prefetch(p); }
#elif defined(__AVXVNNI__)
#include <immintrin.h>
typedef __m256i Sum;
INLINE Sum dot(Format format, Sum sum, v32u w, const int8_t *a) {
  (void)format;
  return _mm256_dpbusd_avx_epi32(sum, (__m256i)w, _mm256_set1_epi32(*(const int32_t *)a));
}
INLINE void prefetch(const void *p) { _mm_prefetch((const char *)p, _MM_HINT_T0); }
#elif defined(__AVX2__)
#include <immintrin.h>
#define SUMS_HAVE_16_BITS 1
typedef __m256i Sum;
INLINE Sum dot(Format format, Sum sum, v32u w, const int8_t *a) {
  __m256i row = _mm256_set1_epi32(*(const int32_t *)a), codes = (__m256i)w;
  // Codes of 8 bits come with a sign here, which moves to the activations.
  if (format == FORMAT_Q8) {
    row = _mm256_sign_epi8(row, codes);
    codes = _mm256_abs_epi8(codes);
  }
  return _mm256_add_epi16(sum, _mm256_maddubs_epi16(codes, row));
}
INLINE void prefetch(const void *p) { _mm_prefetch((const char *)p, _MM_HINT_T0); }
#else // the definition
typedef v8i Sum;
INLINE Sum dot(Format format, Sum sum, v32u w, const int8_t *a) {
  for (int n = 0; n < 8; n++)
    for (int i = 0; i < 4; i++) sum[n] += (format == FORMAT_Q8 ? (int8_t)w[4 * n + i] : w[4 * n + i]) * a[i];
  return sum;
}
INLINE void prefetch(const void *p) { (void)p; }
#endif

#if defined(SUMS_HAVE_16_BITS)
/** Two products of each group stay below 2^15 together: 8 * 2 * 15 * 127, 4 * 2 * 31 * 127, 2 * 2 * 63 * 127, 2 * 127 * 128. */
INLINE int groups_of_sum(Format format) { return format == FORMAT_Q8 ? 1 : 128 >> format_bits(format); }
INLINE Sum begin_sum(v8i total) { (void)total; return (Sum){0}; }
INLINE v8i end_sum(v8i total, Sum sum) { return total + (v8i)_mm256_madd_epi16(sum, _mm256_set1_epi16(1)); }
#else
INLINE int groups_of_sum(Format format) { (void)format; return QUADS; }
INLINE Sum begin_sum(v8i total) { return (Sum)total; }
INLINE v8i end_sum(v8i total, Sum sum) { (void)total; return (v8i)sum; }
#endif
/** Behind all groups of a block or of its half: a sum that holds all groups of a block is still to be ended. */
INLINE v8i total_of(Format format, v8i total, Sum sum) { return groups_of_sum(format) == QUADS ? end_sum(total, sum) : total; }

/** Whether codes of 8 bits are multiplied with their sign; otherwise with 128 added, and sums begin with what undoes that. */
#if defined(__AVXVNNI__)
enum { SIGNED_CODES = 0 };
#else
enum { SIGNED_CODES = 1 };
#endif
INLINE int has_shift(Format format) { return format_bits(format) == 6 || (format == FORMAT_Q8 && !SIGNED_CODES); }
INLINE v8i all_sums(int32_t x) { return (v8i){x, x, x, x, x, x, x, x}; }

/** Group g of inputs of eight outputs; `p` is where the outputs begin in the block. */
INLINE v32u unpack_group(Format format, const uint8_t *p, int g) {
  if (format == FORMAT_Q8) {
    v32u w = load_bytes(p + 64 * g);
    return SIGNED_CODES ? w ^ (uint8_t)128 : w;
  }
  v32u both = load_bytes(p + 64 * (g / 2));
  v32u w = (g % 2 ? shift_right(both, 4) : both) & (uint8_t)15;
  if (format_bits(format) == 5) {
    v32u high = load_bytes(p + 256);
    w |= (g < 4 ? shift_left(high, 4 - g) : shift_right(high, g - 4)) & (uint8_t)16;
  }
  if (format_bits(format) == 6) {
    v32u high = load_bytes(p + 256 + 64 * (g / 4));
    int left = 4 - 2 * (g % 4);
    w |= (left > 0 ? shift_left(high, left) : shift_right(high, -left)) & (uint8_t)48;
  }
  return w;
}

/**
 * Reads the scales of a block, with 6 bits of one of its halves, for eight outputs from `n` on, and the values of code 0, which
 * codes of 6 and 8 bits do not need. `own`: behind the codes; `factors`: of the super-block.
 */
INLINE void read_scales(int bits, Scaling scaling, const uint8_t *own, const uint8_t *factors, int part, int n, v8f *scale, v8f *minimum) {
  const Scaling any = bits < 8 ? any_scaling(scaling) : SCALES;
  if (any == SCALES_OF_SUPER_BLOCKS) {
    // These products are exact.
    *scale = load_half8(factors + 2 * n) * (bits == 6 ? load_signed8(own + TILE * part + n) : load_unsigned8(own + n));
    if (bits < 6) *minimum = load_half8(factors + 2 * (TILE + n)) * -load_unsigned8(own + TILE + n);
  } else {
    *scale = load_half8(own + 2 * n);
    if (bits < 6) *minimum = any == SCALES_AND_MINIMUMS ? load_half8(own + 2 * (TILE + n)) : *scale * -(float)(1 << (bits - 1));
  }
}

/** Rows `first` to `first + ROWS` of a panel. The format's bits and ROWS are constants where this is called. */
INLINE void tile_quantised(Format format, Scaling scaling, const uint8_t *p, int blocks, const Panel *panel, int first, float (*out)[TILE], const int ROWS) {
  const int bits = format_bits(format), parts = scaled_parts(bits), groups = groups_of_sum(format);
  const int width = panel->rows;
  const int8_t *codes = panel->codes + BLOCK * first;
  const float *scales = panel->scales + first, *sums = panel->sums + first;
  const int32_t *shifts = (bits == 6 ? panel->halves : panel->shifts) + first;
  const size_t step = code_bytes(format) + (scaling == SCALES_AND_MINIMUMS ? 4 : 2) * TILE;
  const uint8_t *factors = p;
  // The first eight outputs of a tile and the other eight, which take turns.
  v8f f[TILE_ROWS], other[TILE_ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) f[r] = other[r] = splat8(0);
  for (int b = 0; b < blocks; b++, p += step, codes += BLOCK * width, scales += width, sums += width, shifts += parts * width) {
    if (bits < 8 && b % SUPER_BLOCK == 0 && any_scaling(scaling) == SCALES_OF_SUPER_BLOCKS) {
      factors = p;
      p += factor_bytes(bits);
    }
#pragma unroll
    for (size_t i = 0; i < code_bytes(format) + 2 * TILE; i += 64) prefetch(p + 4096 + i);
    const uint8_t *own = p + code_bytes(format);
    // Twice the code is a little faster with AVX2, whose products take the most instructions.
#pragma clang loop unroll_count(HALVES_AT_ONCE)
    for (int h = 0; h < 2; h++) {
      // Of each row: the sum of the groups in progress, and the 32-bit sum of those before.
      Sum s[TILE_ROWS];
      v8i c[TILE_ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) s[r] = begin_sum(c[r] = has_shift(format) ? all_sums(shifts[r]) : (v8i){0});
#pragma unroll
      for (int part = 0; part < parts; part++) {
        if (part > 0) {
          // The first half has scales of its own in super-blocks, and else joins the other.
          if (any_scaling(scaling) == SCALES_OF_SUPER_BLOCKS) {
            const v8f scale = load_half8(factors + TILE * h) * load_signed8(own + 8 * h);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
              f[r] = fma8(__builtin_convertvector(total_of(format, c[r], s[r]), v8f), scale * scales[r], f[r]);
              s[r] = begin_sum(c[r] = (v8i){0});
            }
          }
#pragma unroll
          for (int r = 0; r < ROWS; r++) s[r] = begin_sum(c[r] = total_of(format, c[r], s[r]) + shifts[width + r]);
        }
#pragma unroll
        for (int g = part * QUADS / parts; g < (part + 1) * QUADS / parts; g++) {
          const v32u w = unpack_group(format, p + 32 * h, g);
#pragma unroll
          for (int r = 0; r < ROWS; r++) s[r] = dot(format, s[r], w, codes + r * BLOCK + g * 4);
          // A sum of all groups is widened where it is scaled, which spares registers.
          if (groups == QUADS || (g + 1) % groups) continue;
#pragma unroll
          for (int r = 0; r < ROWS; r++) s[r] = begin_sum(c[r] = end_sum(c[r], s[r]));
        }
      }
      v8f scale, minimum;
      read_scales(bits, scaling, own, factors, parts - 1, 8 * h, &scale, &minimum);
#pragma unroll
      for (int r = 0; r < ROWS; r++) f[r] = fma8(__builtin_convertvector(total_of(format, c[r], s[r]), v8f), scale * scales[r], f[r]);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const v8f sum = bits < 6 ? fma8(minimum, splat8(sums[r]), f[r]) : f[r];
        f[r] = other[r];
        other[r] = sum;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    __builtin_memcpy(out[r], &f[r], sizeof f[r]);
    __builtin_memcpy(out[r] + 8, &other[r], sizeof f[r]);
  }
}
