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

/** Sums of the codes of both halves of a block. */
INLINE v2i sum_halves(const v16i codes[2]) {
  v8i a = __builtin_shufflevector(codes[0], codes[0], 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(codes[0], codes[0], 8, 9, 10, 11, 12, 13, 14, 15);
  v8i b = __builtin_shufflevector(codes[1], codes[1], 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(codes[1], codes[1], 8, 9, 10, 11, 12, 13, 14, 15);
  v8i c = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  v4i d = __builtin_shufflevector(c, c, 0, 1, 4, 5) + __builtin_shufflevector(c, c, 2, 3, 6, 7);
  return __builtin_shufflevector(d, d, 0, 2) + __builtin_shufflevector(d, d, 1, 3);
}

/** Rounds a block to 8 bits. Mutates: `v`, which becomes what the codes leave over, where `has_rest`. */
INLINE void fill_block(const Panel *panel, int block, int row, v16f v[2], int has_rest) {
  const int width = panel->rows;
  const float peak = max_magnitude(larger_magnitude(magnitude(v[0]), magnitude(v[1])));
  const float inverse = peak > SMALLEST_PEAK ? 127.0f / peak : 0, scale = peak / 127.0f;
  v16i codes[2];
#pragma unroll
  for (int h = 0; h < 2; h++) codes[h] = round_to_int(v[h] * inverse);
  const size_t at = (size_t)block * width + row;
  int8_t *out = (int8_t *)panel->codes + at * BLOCK;
#pragma unroll
  for (int h = 0; h < 2; h++) *(v16c_memory *)(out + h * LANES) = __builtin_convertvector(codes[h], v16c);
  if (has_rest) {
#pragma unroll
    for (int h = 0; h < 2; h++) v[h] = fma16(splat(-scale), __builtin_convertvector(codes[h], v16f), v[h]);
  }
  const v2i halves = sum_halves(codes);
  // Inputs that are not finite have any codes; their sum may wrap.
  const uint32_t sum = (uint32_t)halves[0] + (uint32_t)halves[1];
#pragma unroll
  for (int h = 0; h < 2; h++) ((int32_t *)panel->halves)[(size_t)(2 * block + h) * width + row] = (int32_t)(-32 * (uint32_t)halves[h]);
  ((float *)panel->scales)[at] = scale;
  ((float *)panel->sums)[at] = scale * (float)(int32_t)sum;
  ((int32_t *)panel->shifts)[at] = (int32_t)(-128 * sum);
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

/** A block of a row, times `factor` and the weight of the norm where there is one. */
INLINE void load_block(const Product *p, const float *x, int block, float factor, v16f v[2]) {
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int from = block * BLOCK + h * LANES;
    v[h] = load_inputs(x, from, p->inputs);
    if (p->norm) v[h] = v[h] * factor * load_inputs(p->norm, from, p->inputs);
  }
}

/** `x`: null behind the last row, where all is zero. `r`: of the panel, without splits. `weights`: null, or those to fetch on the way. */
static void fill_row(const Product *p, const Panel *panel, int r, const float *x, const uint8_t *weights) {
  const float factor = x && p->norm ? inverse_rms(x, p->inputs, p->epsilon) : 1.0f;
  for (int b = 0; b < p->blocks; b++) {
#pragma clang loop unroll(disable)
    for (int i = 0; i < LINES_AHEAD && weights; i++) __builtin_prefetch(weights + (b * LINES_AHEAD + i) * LINE_BYTES, 0, 2);
    v16f v[2] = {splat(0), splat(0)};
    if (x) load_block(p, x, b, factor, v);
    if (!p->is_quantised) {
      float values[BLOCK];
      for (int h = 0; h < 2; h++) store(values + h * LANES, v[h]);
      for (int i = 0; i < BLOCK; i++) ((float *)panel->values)[(size_t)(b * BLOCK + i) * panel->rows + r] = values[i];
    } else if (p->splits == 1) {
      fill_block(panel, b, r, v, 0);
    } else {
      fill_block(panel, b, 2 * r, v, 1);
      fill_block(panel, b, 2 * r + 1, v, 0);
    }
  }
}

static void fill_rows(const Product *p, int index) {
  const int fills = row_fills(p), group = index / fills, first = index % fills * rows_per_fill(p);
  const Panel panel = get_panel(p, group * row_panels(p) + first / rows_per_panel(p));
  const float *start = p->x + (size_t)group * p->group_step + p->group_start;
  const int before = first % rows_per_panel(p), end = min_int(before + rows_per_fill(p), panel.rows / p->splits);
  for (int r = before; r < end; r++) {
    const int row = first - before + r;
    const float *x = row < p->rows ? start + (size_t)(p->rows_of_x ? p->rows_of_x[row] : row) * row_step(p) : 0;
    if (p->rows == 1) fetch_row(p, x);
    fill_row(p, &panel, r, x, p->rows == 1 && group == 0 ? p->parts[0].tiles : 0);
  }
}
