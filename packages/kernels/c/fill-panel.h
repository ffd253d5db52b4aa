// Writes rows of activations into a panel: RMS norm, and rounding to 8 bits, or twice 8, with a scale for each block of 32.
#pragma once
#include "product.h"

INLINE float inverse_rms(const float *x, int count, float epsilon) {
  v16f sum = splat(0);
  for (int i = 0; i < count; i += LANES) {
    const v16f v = load_inputs(x, i, count);
    sum = fma16(v, v, sum);
  }
  return 1.0f / __builtin_sqrtf(sum_lanes(sum) / (float)count + epsilon);
}

/** Rounds a block to 8 bits. Mutates: `v`, which becomes what the codes leave over. */
static __attribute__((noinline)) void fill_block(const Panel *panel, int block, int row, v16f v[2]) {
  const int width = panel->rows;
  const float peak = max_magnitude(larger_magnitude(magnitude(v[0]), magnitude(v[1])));
  const float inverse = peak > SMALLEST_PEAK ? 127.0f / peak : 0, scale = peak / 127.0f;
  v16i codes[2];
  for (int h = 0; h < 2; h++) codes[h] = round_to_int(v[h] * inverse);
  uint32_t sum = 0;
  for (int h = 0; h < 2; h++) {
    const uint32_t half = (uint32_t)sum_int_lanes(codes[h]);
    sum += half;
    ((int32_t *)panel->halves)[(block * 2 + h) * width + row] = (int32_t)(-32 * half);
    v16c narrow = __builtin_convertvector(codes[h], v16c);
    int32_t quads[4];
    __builtin_memcpy(quads, &narrow, 16);
    for (int j = 0; j < 4; j++)
      *(int32_t *)(panel->codes + ((size_t)(block * QUADS + h * 4 + j) * width + row) * 4) = quads[j];
    v[h] = fma16(splat(-scale), __builtin_convertvector(codes[h], v16f), v[h]);
  }
  ((float *)panel->scales)[block * width + row] = scale;
  ((float *)panel->sums)[block * width + row] = scale * (float)(int32_t)sum;
  ((int32_t *)panel->shifts)[block * width + row] = (int32_t)(-128 * sum);
}

enum {
  /** Bytes of a line of the caches, about. */
  LINE_BYTES = 64,
  /** Lines of the first weights that are fetched with each block of a single row: memory would be idle while the row is rounded. */
  LINES_AHEAD = 8,
};

/** A single row, part of which other threads have just written, and its norm, which is in memory. */
INLINE void fetch_row(const Product *p, const float *x) {
  for (int i = 0; i < p->inputs; i += LINE_BYTES / (int)sizeof(float)) {
    __builtin_prefetch(x + i);
    if (p->norm) __builtin_prefetch(p->norm + i);
  }
}

/** Rows behind the last one are zero. */
static void fill_panel(const Product *p, int index) {
  const Panel panel = get_panel(p, index);
  const int panels = row_panels(p), group = index / panels, first = index % panels * rows_per_panel(p);
  const float *start = p->x + (size_t)group * p->group_step + p->group_start;
  const int width = panel.rows, count = rows_in_panel(p, index), inputs = p->inputs, splits = p->splits;
  const uint8_t *weights = p->rows == 1 && group == 0 ? p->parts[0].tiles : 0;
  for (int r = 0; r < width / splits; r++) {
    const int row = first + r, is_row = r < count;
    const float *x = start + (size_t)(is_row && p->rows_of_x ? p->rows_of_x[row] : row) * row_step(p);
    if (p->rows == 1) fetch_row(p, x);
    const float factor = is_row && p->norm ? inverse_rms(x, inputs, p->epsilon) : 1.0f;
    for (int b = 0; b < p->blocks; b++) {
#pragma clang loop unroll(disable)
      for (int i = 0; i < LINES_AHEAD && weights && r == 0; i++) __builtin_prefetch(weights + (b * LINES_AHEAD + i) * LINE_BYTES, 0, 2);
      v16f v[2] = {splat(0), splat(0)};
      for (int h = 0; h < 2 && is_row; h++) {
        v[h] = load_inputs(x, b * BLOCK + h * LANES, inputs);
        if (p->norm) v[h] = v[h] * factor * load_inputs(p->norm, b * BLOCK + h * LANES, inputs);
      }
      if (p->is_quantised) {
        for (int i = 0; i < splits; i++) fill_block(&panel, b, r * splits + i, v);
      } else {
        float values[BLOCK];
        for (int h = 0; h < 2; h++) store(values + h * LANES, v[h]);
        for (int i = 0; i < BLOCK; i++) ((float *)panel.values)[(size_t)(b * BLOCK + i) * width + r] = values[i];
      }
    }
  }
}
