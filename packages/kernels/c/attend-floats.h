// Scores and sums of values over a float32 or float16 cache.
#pragma once
#include "panel.h"
#include "work.h"

/** Products of keys `first` to `end`, whole groups, with ROWS rows from `row` on. ROWS is a constant where this is called. */
INLINE void score_keys(const Work *w, CacheType type, int first, int end, int row, Scores *s, const int ROWS) {
  const int size = w->attention->head_size, width = SCORE_ROWS == QUERY_ROWS ? ROWS : w->rows;
  const size_t step = LANES * cache_element_bytes(type), group_bytes = key_group_bytes(type, size);
  for (int k = first; k < end; k += GROUP) {
    const uint8_t *p = w->keys + (size_t)(k / GROUP) * group_bytes;
    v16f even[SCORE_ROWS], odd[SCORE_ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) even[r] = odd[r] = splat(0);
    const float *x = w->queries.values + row;
    int d = 0;
    for (; d + 1 < size; d += 2, x += 2 * width) {
      const v16f k0 = load_cache(type, p + d * step), k1 = load_cache(type, p + (d + 1) * step);
      // The values of these keys, at the same place of their group, come next. A vector of float32 is a line of the cache.
#pragma unroll
      for (size_t i = 0; i < 2 * step; i += 64) {
        fetch(p + d * step + i + AHEAD_BYTES);
        fetch(w->values + (p - w->keys) + d * step + i);
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        even[r] = fma16(splat(x[r]), k0, even[r]);
        odd[r] = fma16(splat(x[width + r]), k1, odd[r]);
      }
    }
    if (d < size) {
      const v16f k0 = load_cache(type, p + d * step);
#pragma unroll
      for (int r = 0; r < ROWS; r++) even[r] = fma16(splat(x[r]), k0, even[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) store(&s->rows[row + r][k], even[r] + odd[r]);
  }
}

/** Sums of VECTORS vectors of channels for ROWS rows from `row` on. ROWS and VECTORS are constants where this is called. */
INLINE void sum_values(const Work *w, CacheType type, int channel, int row, const Scores *s, float *out, const int ROWS,
                       const int VECTORS) {
  const int size = w->attention->head_size, channels = cache_channels(size);
  const size_t step = LANES * cache_element_bytes(type), row_bytes = value_row_bytes(type, size);
  v16f y[VALUE_ROWS][FEW_ROWS_VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < VECTORS; i++) y[r][i] = splat(0);
  const uint8_t *p = w->values + (size_t)w->first * row_bytes + channel * cache_element_bytes(type);
  for (int k = w->first; k < w->end; k++, p += row_bytes) {
    v16f v[FEW_ROWS_VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) v[i] = load_cache(type, p + i * step);
    // The keys of the next piece come then.
#pragma unroll
    for (size_t i = 0; i < VECTORS * step; i += 64) {
      fetch(p + i + AHEAD_BYTES);
      fetch(w->keys + (p - w->values) + i + PIECE * row_bytes);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const v16f weight = splat(s->rows[row + r][k]);
#pragma unroll
      for (int i = 0; i < VECTORS; i++) y[r][i] = fma16(weight, v[i], y[r][i]);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < VECTORS; i++) store(out + (size_t)(row + r) * channels + channel + i * LANES, y[r][i]);
}

/**
 * As `sum_values`, of keys, `SCORE_ROWS` rows at a time: in a group sixteen keys stand side by side for each channel, and those behind the
 * last one are any numbers.
 */
static void sum_keys(const Work *w, int channel, int row, const Scores *s, float *out) {
  const CacheType type = w->attention->type;
  const int size = w->attention->head_size, channels = cache_channels(size), whole = w->end / GROUP * GROUP;
  const size_t step = LANES * cache_element_bytes(type), group_bytes = key_group_bytes(type, size);
  const v16i lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int i = channel; i < channel + KEY_CHANNELS; i++) {
    v16f y[SCORE_ROWS];
#pragma unroll
    for (int r = 0; r < SCORE_ROWS; r++) y[r] = splat(0);
    const uint8_t *p = w->keys + (size_t)(w->first / GROUP) * group_bytes + i * step;
    for (int k = w->first; k < w->end; k += GROUP, p += group_bytes) {
      v16f keys = load_cache(type, p);
      if (k == whole) keys = choose(lanes < w->end - k, keys, splat(0));
      // Those of the next piece.
      fetch(p + PIECE / GROUP * group_bytes);
#pragma unroll
      for (int r = 0; r < SCORE_ROWS; r++) y[r] = fma16(load(&s->rows[row + r][k]), keys, y[r]);
    }
    float *at = out + (size_t)row * channels + i;
    if (SCORE_ROWS == 8) {
      const v8f sums = sum_eight(y);
      for (int r = 0; r < 8; r++) at[(size_t)r * channels] = sums[r];
    } else {
      for (int r = 0; r < SCORE_ROWS; r++) at[(size_t)r * channels] = sum_lanes(y[r]);
    }
  }
}

// Functions for each type of cache and number of rows, with both as constants.
#define FLOAT_ROWS(type, count) \
  static void score_##type##_##count(const Work *w, int first, int end, int row, Scores *s) { \
    if (count <= SCORE_ROWS) score_keys(w, CACHE_##type, first, end, row, s, count); \
  } \
  static void sum_##type##_##count(const Work *w, int channel, int row, const Scores *s, float *out) { \
    if (count <= VALUE_ROWS) sum_values(w, CACHE_##type, channel, row, s, out, count, count > 4 ? 2 : FEW_ROWS_VECTORS); \
  }
#define FLOAT_CACHE(type) FLOAT_ROWS(type, 1) FLOAT_ROWS(type, 2) FLOAT_ROWS(type, 4) FLOAT_ROWS(type, 8)
FLOAT_CACHE(F32) FLOAT_CACHE(F16)

static void sum_narrow(const Work *w, int channel, int row, const Scores *s, float *out) {
  sum_values(w, w->attention->type, channel, row, s, out, 1, 1);
}

#define FLOAT_FUNCTIONS(type) \
  {.score_rows = SCORE_ROWS, .value_rows = VALUE_ROWS, .few_rows = QUERY_ROWS, .vectors = 2, .few_rows_vectors = FEW_ROWS_VECTORS, \
   .score = {score_##type##_1, score_##type##_2, 0, score_##type##_4, score_##type##_8}, \
   .sum = {sum_##type##_1, sum_##type##_2, 0, sum_##type##_4, sum_##type##_8}, .sum_narrow = sum_narrow, \
   .key_rows = SCORE_ROWS, .sum_keys = sum_keys}
static const CacheFunctions FLOAT_CACHE_FUNCTIONS[2] = {FLOAT_FUNCTIONS(F32), FLOAT_FUNCTIONS(F16)};
