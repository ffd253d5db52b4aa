// Rows of a matrix in tiles, for the embedding table, which may be the output matrix too.
#pragma once
#include "weights.h"

/** Output `row` of the matrix. Writes `inputs` numbers. */
static inline void read_row(Format format, const uint8_t *tiles, int inputs, int64_t row, float *out) {
  const size_t step = block_bytes(format);
  const uint8_t *p = tiles + tile_bytes(format, inputs) * (size_t)(row / TILE);
  const int n = (int)(row % TILE), bits = format_bits(format);
  for (int from = 0; from < inputs; from += BLOCK, p += step) {
    const int count = min_int(BLOCK, inputs - from);
    if (format == FORMAT_F32) {
      for (int i = 0; i < count; i++) out[from + i] = ((const float *)p)[i * TILE + n];
      continue;
    }
    const _Float16 *scales = (const _Float16 *)(p + code_bytes(format));
    const float scale = (float)scales[n], minimum = format_has_minimum(format) ? (float)scales[TILE + n] : 0;
    const int offset = format_has_minimum(format) ? 0 : 1 << (bits - 1);
    for (int i = 0; i < count; i++) {
      const int group = i / 4, byte = 4 * n + i % 4;
      int code;
      if (bits == 8) code = p[64 * group + byte];
      else {
        code = p[64 * (group / 2) + byte] >> (4 * (group % 2)) & 15;
        if (bits == 5) code |= (p[256 + byte] >> group & 1) << 4;
        if (bits == 6) code |= (p[256 + 64 * (group / 4) + byte] >> (2 * (group % 4)) & 3) << 4;
      }
      out[from + i] = __builtin_fmaf((float)(code - offset), scale, minimum);
    }
  }
}
