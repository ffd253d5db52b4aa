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
};

/** `out[r][n]`: row r times output n. The format's bits and ROWS, the rows of the panel, are constants where this is called. */
INLINE void tile_quantised(Format format, int has_minimum, const uint8_t *p, int blocks, const Panel *panel, int first, float (*out)[TILE], const int ROWS) {
  (void)first;
  const int8_t *codes = panel->codes;
  const float *scales = panel->scales, *sums = panel->sums;
  const int32_t *shifts = panel->shifts;
  const size_t step = code_bytes(format) + (has_minimum ? 4 : 2) * TILE;
  v16f f[PANEL_ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) f[r] = splat(0);
  for (int b = 0; b < blocks; b++, p += step, codes += BLOCK * ROWS, scales += ROWS, sums += ROWS, shifts += ROWS) {
#pragma unroll
    for (size_t i = 0; i < code_bytes(format) + 2 * TILE; i += 64) _mm_prefetch((const char *)p + 4096 + i, _MM_HINT_T0);
    __m512i w[QUADS];
    unpack_block(format, p, w);
    __m512i c[PANEL_ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) c[r] = format == FORMAT_Q8 ? _mm512_set1_epi32(shifts[r]) : _mm512_setzero_si512();
#pragma unroll
    for (int g = 0; g < QUADS; g++)
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        c[r] = _mm512_dpbusd_epi32(c[r], w[g], _mm512_set1_epi32(*(const int32_t *)(codes + (g * ROWS + r) * 4)));
    const v16f scale = load_half(p + code_bytes(format));
    const v16f minimum = has_minimum ? load_half(p + code_bytes(format) + 2 * TILE)
                                     : scale * -(float)(1 << (format_bits(format) - 1));
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      f[r] = fma16(__builtin_convertvector(as_ints(c[r]), v16f), scale * scales[r], f[r]);
      if (format != FORMAT_Q8) f[r] = fma16(minimum, splat(sums[r]), f[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) store(out[r], f[r]);
}
