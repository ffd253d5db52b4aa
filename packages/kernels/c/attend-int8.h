// Scores and sums of values over an int8 cache, by integer products. Included once for each instruction set.
#pragma once
#include "dot.h"
#include "panel.h"
#include "work.h"

/** Keys `first` to `end` times ROWS rows. ROWS is a constant where this is called. */
INLINE void score_int8(const Work *w, int first, int end, int row, Scores *s, const int ROWS) {
  const int channels = cache_channels(w->attention->head_size), width = INT8_SCORE_ROWS == QUERY_ROWS ? ROWS : w->rows;
  const size_t group_bytes = key_group_bytes(CACHE_INT8, channels), group_codes = (size_t)GROUP * channels;
  const float *scales = w->queries.scales + row;
  const int32_t *shifts = w->queries.shifts + row;
  for (int k = first; k < end; k += GROUP) {
    const size_t at = (size_t)(k / GROUP) * group_bytes;
    const uint8_t *p = w->keys + at;
    const int8_t *x = w->queries.codes + 4 * row;
    v16i c[INT8_SCORE_ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) c[r] = (v16i){0} + (KEYS_CARRY_128 ? shifts[r] : 0);
    for (size_t i = 0; i < group_codes; i += 4 * GROUP, x += 4 * width) {
      const v64u keys = load_keys(p + i);
      fetch(p + i + AHEAD_BYTES);
      // The values of these keys, at the same place of their group, come next.
      fetch(w->values + at + i);
#pragma unroll
      for (int r = 0; r < ROWS; r++) c[r] = dot_keys(c[r], keys, x + 4 * r);
    }
    const v16f key_scales = load((const float *)(p + group_codes));
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      store(&s->rows[row + r][k], __builtin_convertvector(c[r], v16f) * (key_scales * scales[r]));
  }
}

/** Sums of VECTORS vectors of channels for ROWS rows. Both are constants where this is called. */
INLINE void sum_int8(const Work *w, int channel, int row, const Scores *s, float *out, const int ROWS, const int VECTORS) {
  const int channels = cache_channels(w->attention->head_size);
  const size_t group_bytes = key_group_bytes(CACHE_INT8, channels), next = PIECE / GROUP * group_bytes;
  v16f y[INT8_VALUE_ROWS][INT8_VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < VECTORS; i++) y[r][i] = splat(0);
  for (int k = w->first; k < w->end; k += GROUP) {
    const size_t at = (size_t)(k / GROUP) * group_bytes + 4 * channel;
    const uint8_t *codes = &s->codes[row][k];
    v16i c[INT8_VALUE_ROWS][INT8_VECTORS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int i = 0; i < VECTORS; i++) c[r][i] = (v16i){0};
    for (int t = 0; t < GROUP / 4; t++) {
      v64u values[INT8_VECTORS];
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const size_t place = at + (size_t)t * 4 * channels + 64 * i;
        values[i] = load_quads(w->values + place);
        fetch(w->values + place + AHEAD_BYTES);
        // The keys of the next piece.
        fetch(w->keys + place + next);
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < VECTORS; i++) c[r][i] = dot_values(c[r][i], values[i], codes + r * PIECE + 4 * t);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int i = 0; i < VECTORS; i++)
        y[r][i] = fma16(__builtin_convertvector(c[r][i], v16f), splat(s->scales[row + r][k / GROUP]), y[r][i]);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < VECTORS; i++) store(out + (size_t)(row + r) * channels + channel + i * LANES, y[r][i]);
}

/**
 * As `sum_int8`, of keys, `INT8_VALUE_ROWS` rows at a time: four channels of sixteen keys stand side by side. Turned, a lane has one channel
 * of four keys, and there are four lanes of each channel, so the weights of a row are spread likewise.
 */
static void sum_int8_keys(const Work *w, int channel, int row, const Scores *s, float *out) {
  const int channels = cache_channels(w->attention->head_size);
  const size_t group_bytes = key_group_bytes(CACHE_INT8, channels);
  for (int c = channel; c < channel + KEY_CHANNELS; c += 4) {
    v16f y[INT8_VALUE_ROWS];
#pragma unroll
    for (int r = 0; r < INT8_VALUE_ROWS; r++) y[r] = splat(0);
    const uint8_t *p = w->keys + (size_t)(w->first / GROUP) * group_bytes + (size_t)c * GROUP;
    for (int k = w->first; k < w->end; k += GROUP, p += group_bytes) {
      const v64u keys = turn_quads(load_quads(p) ^ (uint8_t)128);
      // Those of the next piece.
      fetch(p + PIECE / GROUP * group_bytes);
#pragma unroll
      for (int r = 0; r < INT8_VALUE_ROWS; r++) {
        const v16i sums = dot_vectors((v16i){0}, keys, spread_quads(&s->codes[row + r][k]));
        y[r] = fma16(__builtin_convertvector(sums, v16f), splat(s->scales[row + r][k / GROUP]), y[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < INT8_VALUE_ROWS; r++) {
      const v8f half = __builtin_shufflevector(y[r], y[r], 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(y[r], y[r], 8, 9, 10, 11, 12, 13, 14, 15);
      const v4f sums = __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
      __builtin_memcpy(out + (size_t)(row + r) * channels + c, &sums, sizeof sums);
    }
  }
}

// A function for each number of rows that blocks need, with it as a constant.
#define IS_NEEDED(count, most) ((count) == 1 || (count) == (most) || ((count) < (most) && INT8_FEW_ROWS > 1))
#define INT8_ROWS(count) \
  static void score_int8_##count(const Work *w, int first, int end, int row, Scores *s) { \
    if (IS_NEEDED(count, INT8_SCORE_ROWS)) score_int8(w, first, end, row, s, count); \
  } \
  static void sum_int8_##count(const Work *w, int channel, int row, const Scores *s, float *out) { \
    if (IS_NEEDED(count, INT8_VALUE_ROWS)) sum_int8(w, channel, row, s, out, count, INT8_VECTORS); \
  }
INT8_ROWS(1) INT8_ROWS(2) INT8_ROWS(3) INT8_ROWS(4) INT8_ROWS(8)

static void sum_int8_narrow(const Work *w, int channel, int row, const Scores *s, float *out) {
  if (INT8_VECTORS == 1) sum_int8_1(w, channel, row, s, out);
  else sum_int8(w, channel, row, s, out, 1, 1);
}

#define INT8_NAME(isa) int8_##isa
#define INT8(isa) INT8_NAME(isa)

const CacheFunctions INT8(ISA) = {
    .score_rows = INT8_SCORE_ROWS,
    .value_rows = INT8_VALUE_ROWS,
    .few_rows = INT8_FEW_ROWS,
    .vectors = INT8_VECTORS,
    .few_rows_vectors = INT8_VECTORS,
    .score = {score_int8_1, score_int8_2, score_int8_3, score_int8_4, score_int8_8},
    .sum = {sum_int8_1, sum_int8_2, sum_int8_3, sum_int8_4, sum_int8_8},
    .sum_narrow = sum_int8_narrow,
    .key_rows = INT8_VALUE_ROWS,
    .sum_keys = sum_int8_keys,
};
