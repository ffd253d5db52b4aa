// Rows of a matrix in tiles, for the embedding table, which may be the output matrix too.
#pragma once
#include "weights.h"

/** The code of input `i` of a block for output `n` of the tile. */
INLINE int code_at(int bits, const uint8_t *p, int n, int i) {
  const int group = i / 4, byte = 4 * n + i % 4;
  if (bits == 8) return p[64 * group + byte];
  int code = p[64 * (group / 2) + byte] >> (4 * (group % 2)) & 15;
  if (bits == 5) code |= (p[256 + byte] >> group & 1) << 4;
  if (bits == 6) code |= (p[256 + 64 * (group / 4) + byte] >> (2 * (group % 4)) & 3) << 4;
  return code;
}

/** Output `row` of the matrix. Writes `inputs` numbers. Products with scales are exact, so each number is rounded once. */
static inline void read_row(Format format, const uint8_t *tiles, int inputs, int64_t row, float *out) {
  const size_t step = block_bytes(format), code_size = code_bytes(format);
  const uint8_t *p = tiles + tile_bytes(format, inputs) * (size_t)(row / TILE);
  const _Float16 *factors = 0;
  const int n = (int)(row % TILE), bits = format_bits(format), is_super = format_scaling(format) == SCALES_OF_SUPER_BLOCKS;
  const int has_minimum = format_scaling(format) == SCALES_AND_MINIMUMS || (is_super && bits < 6);
  const int offset = has_minimum || bits == 32 ? 0 : 1 << (bits - 1);
  for (int i = 0; i < inputs; i++) {
    const int inside = i % BLOCK;
    if (is_super && i % (BLOCK * SUPER_BLOCK) == 0) {
      factors = (const _Float16 *)p;
      p += factor_bytes(bits);
    }
    if (bits == 32) {
      out[i] = ((const float *)p)[inside * TILE + n];
    } else {
      const uint8_t *own = p + code_size + n;
      const _Float16 *halves = (const _Float16 *)(p + code_size) + n;
      const float code = (float)(code_at(bits, p, n, inside) - offset);
      const float scale = !is_super ? (float)halves[0]
                          : bits == 6 ? (float)factors[n] * (float)(int8_t)own[inside / 16 * TILE]
                                      : (float)factors[n] * (float)own[0];
      if (has_minimum) out[i] = __builtin_fmaf(code, scale, is_super ? (float)factors[TILE + n] * -(float)own[TILE] : (float)halves[TILE]);
      else out[i] = code * scale;
    }
    if (inside == BLOCK - 1) p += step;
  }
}
