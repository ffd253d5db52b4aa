// Writes rows of activations into a panel: RMS norm, and rounding to 8 bits, or twice 8, with a scale for each block of 32.
#pragma once
#include "product.h"

INLINE float inverse_rms(const float *x, int count, float epsilon) {
  v16f sum = splat(0);
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    v16f v = load(x + i);
    sum = fma16(v, v, sum);
  }
  v16f rest = splat(0);
  for (int j = 0; i + j < count; j++) rest[j] = x[i + j];
  sum = fma16(rest, rest, sum);
  return 1.0f / __builtin_sqrtf(sum_lanes(sum) / (float)count + epsilon);
}

/** Rounds a block to 8 bits. Mutates: `v`, which becomes what the codes leave over. */
INLINE void fill_block(const Panel *panel, int block, int row, v16f v[2]) {
  const int width = panel->rows;
  const float peak = max_magnitude(larger_magnitude(magnitude(v[0]), magnitude(v[1])));
  const float inverse = peak > SMALLEST_PEAK ? 127.0f / peak : 0, scale = peak / 127.0f;
  v16i codes[2];
  for (int h = 0; h < 2; h++) codes[h] = round_to_int(v[h] * inverse);
  const int32_t sum = sum_int_lanes(codes[0] + codes[1]);
  for (int h = 0; h < 2; h++) {
    v16c narrow = __builtin_convertvector(codes[h], v16c);
    int32_t quads[4];
    __builtin_memcpy(quads, &narrow, 16);
    for (int j = 0; j < 4; j++)
      *(int32_t *)(panel->codes + ((size_t)(block * QUADS + h * 4 + j) * width + row) * 4) = quads[j];
    v[h] = fma16(splat(-scale), __builtin_convertvector(codes[h], v16f), v[h]);
  }
  ((float *)panel->scales)[block * width + row] = scale;
  ((float *)panel->sums)[block * width + row] = scale * (float)sum;
  ((int32_t *)panel->shifts)[block * width + row] = (int32_t)(-128 * (uint32_t)sum);
}

static void fill_panel(const Product *p, int index) {
  const Panel panel = get_panel(p, index);
  const int width = panel.rows, count = rows_in_panel(p, index), blocks = p->blocks, inputs = p->inputs, splits = p->splits;
  for (int r = 0; r < count; r++) {
    const float *x = p->x + (size_t)(index * rows_per_panel(p) + r) * inputs;
    const float factor = p->norm ? inverse_rms(x, inputs, p->epsilon) : 1.0f;
    for (int b = 0; b < blocks; b++) {
      v16f v[2];
      for (int h = 0; h < 2; h++) {
        v[h] = load_inputs(x, b * BLOCK + h * LANES, inputs);
        if (p->norm) v[h] = v[h] * factor * load_inputs(p->norm, b * BLOCK + h * LANES, inputs);
      }
      if (p->is_quantised) {
        for (int i = 0; i < splits; i++) fill_block(&panel, b, r * splits + i, v);
      } else {
        for (int h = 0; h < 2; h++)
          for (int i = 0; i < LANES; i++)
            ((float *)panel.values)[(size_t)(b * BLOCK + h * LANES + i) * width + r] = v[h][i];
      }
    }
  }
  for (int r = count * splits; r < width; r++)
    for (int b = 0; b < blocks; b++) {
      v16f none[2] = {splat(0), splat(0)};
      if (p->is_quantised) fill_block(&panel, b, r, none);
      else for (int i = 0; i < BLOCK; i++) ((float *)panel.values)[(size_t)(b * BLOCK + i) * width + r] = 0;
    }
}
