// One tile of weights times a panel, with AVX-512 VNNI: a register holds a group of 4 inputs of all 16 outputs.
#pragma once
#include "panel.h"
#include <immintrin.h>

INLINE v16i as_ints(__m512i x) { return (v16i)x; }

/** Unpacks the codes of a block: register g has inputs 4g .. 4g+3 of the 16 outputs, without sign. */
INLINE void unpack_block(Format format, const uint8_t *p, __m512i w[QUADS]) {
  if (format == FORMAT_Q8) {
#pragma unroll
    for (int g = 0; g < QUADS; g++) w[g] = _mm512_loadu_si512(p + 64 * g);
    return;
  }
  const __m512i low = _mm512_set1_epi8(15);
#pragma unroll
  for (int g = 0; g < QUADS / 2; g++) {
    __m512i both = _mm512_loadu_si512(p + 64 * g);
    w[2 * g] = _mm512_and_si512(both, low);
    w[2 * g + 1] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
  }
  if (format_bits(format) == 5) {
    const __m512i bit = _mm512_set1_epi8(16), high = _mm512_loadu_si512(p + 256);
#pragma unroll
    for (int g = 0; g < QUADS; g++) {
      __m512i moved = g < 4 ? _mm512_slli_epi16(high, 4 - g) : _mm512_srli_epi16(high, g - 4);
      w[g] = _mm512_or_si512(w[g], _mm512_and_si512(moved, bit));
    }
  }
  if (format_bits(format) == 6) {
    const __m512i bits = _mm512_set1_epi8(48);
#pragma unroll
    for (int g = 0; g < QUADS; g++) {
      __m512i high = _mm512_loadu_si512(p + 256 + 64 * (g / 4));
      int left = 4 - 2 * (g % 4);
      __m512i moved = left > 0 ? _mm512_slli_epi16(high, left) : _mm512_srli_epi16(high, -left);
      w[g] = _mm512_or_si512(w[g], _mm512_and_si512(moved, bits));
    }
  }
}

enum {
  /** Rows of a panel whose sums fit the registers: of a product, of scores, and of two vectors of values. */
  TILE_ROWS = 8,
  SCORE_ROWS = 8,
  VALUE_ROWS = 8,
  /** Vectors of values whose sums fit with four rows: whole rows of the cache are read in order. */
  FEW_ROWS_VECTORS = 4,
};

/**
 * Reads the scales of a block, with 6 bits of one of its halves, and the values of code 0, which codes of 6 and 8 bits do not need.
 * `own`: behind the codes; `factors`: of the super-block.
 */
INLINE void read_scales(int bits, Scaling scaling, const uint8_t *own, const uint8_t *factors, int part, v16f *scale, v16f *minimum) {
  const Scaling any = bits < 8 ? any_scaling(scaling) : SCALES;
  if (any == SCALES_OF_SUPER_BLOCKS) {
    // These products are exact.
    *scale = load_half(factors) * (bits == 6 ? load_signed(own + TILE * part) : load_unsigned(own));
    if (bits < 6) *minimum = load_half(factors + 2 * TILE) * -load_unsigned(own + TILE);
  } else {
    *scale = load_half(own);
    if (bits < 6) *minimum = any == SCALES_AND_MINIMUMS ? load_half(own + 2 * TILE) : *scale * -(float)(1 << (bits - 1));
  }
}

/** Rows `first` to `first + ROWS` of a panel. The format's bits and ROWS are constants where this is called. */
INLINE void tile_quantised(Format format, Scaling scaling, const uint8_t *p, int blocks, const Panel *panel, int first, float (*out)[TILE], const int ROWS) {
  const int bits = format_bits(format), parts = scaled_parts(bits), width = panel->rows;
  const int8_t *codes = panel->codes + BLOCK * first;
  const float *scales = panel->scales + first, *sums = panel->sums + first;
  const int32_t *shifts = (bits == 6 ? panel->halves : panel->shifts) + first;
  const size_t step = code_bytes(format) + (scaling == SCALES_AND_MINIMUMS ? 4 : 2) * TILE;
  const uint8_t *factors = p;
  v16f f[TILE_ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) f[r] = splat(0);
  for (int b = 0; b < blocks; b++, p += step, codes += BLOCK * width, scales += width, sums += width, shifts += parts * width) {
    if (bits < 8 && b % SUPER_BLOCK == 0 && any_scaling(scaling) == SCALES_OF_SUPER_BLOCKS) {
      factors = p;
      p += factor_bytes(bits);
    }
#pragma unroll
    for (size_t i = 0; i < code_bytes(format) + 2 * TILE; i += 64) _mm_prefetch((const char *)p + 4096 + i, _MM_HINT_T0);
    __m512i w[QUADS];
    unpack_block(format, p, w);
    const uint8_t *own = p + code_bytes(format);
    __m512i c[TILE_ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) c[r] = bits < 6 ? _mm512_setzero_si512() : _mm512_set1_epi32(shifts[r]);
#pragma unroll
    for (int part = 0; part < parts; part++) {
      if (part > 0) {
        // The first half has scales of its own in super-blocks, and else joins the other.
        if (any_scaling(scaling) == SCALES_OF_SUPER_BLOCKS) {
          const v16f scale = load_half(factors) * load_signed(own);
#pragma unroll
          for (int r = 0; r < ROWS; r++) {
            f[r] = fma16(__builtin_convertvector(as_ints(c[r]), v16f), scale * scales[r], f[r]);
            c[r] = _mm512_setzero_si512();
          }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) c[r] = _mm512_add_epi32(c[r], _mm512_set1_epi32(shifts[width + r]));
      }
#pragma unroll
      for (int g = part * QUADS / parts; g < (part + 1) * QUADS / parts; g++)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
          c[r] = _mm512_dpbusd_epi32(c[r], w[g], _mm512_set1_epi32(*(const int32_t *)(codes + r * BLOCK + g * 4)));
    }
    v16f scale, minimum;
    read_scales(bits, scaling, own, factors, parts - 1, &scale, &minimum);
#pragma unroll
    for (int r = 0; r < ROWS; r++) f[r] = fma16(__builtin_convertvector(as_ints(c[r]), v16f), scale * scales[r], f[r]);
    if (bits < 6) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) f[r] = fma16(minimum, splat(sums[r]), f[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) store(out[r], f[r]);
}
