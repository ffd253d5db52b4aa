// Queries, keys and values in 8 bits, each row with a scale of its own, as integer products take them.
//
// Queries and keys go through a Hadamard transform, which leaves their products as they are but for a factor. It spreads the few
// channels that are much larger than the others over all of them, and with them the rounding: without it, rounding costs twice as much.
#pragma once
#include "attention.h"

/** Channels that are transformed together: the largest power of two that divides `channels`, at least 16. */
INLINE int transformed_channels(int channels) { return channels & -channels; }

/** Signs of the transform within a vector at a distance: u + v in the first of a pair of lanes, u - v in the second. */
INLINE v16f add_and_subtract(v16f x, v16f other, int distance) {
  const v16i lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return choose((lanes & distance) != 0, other - x, x + other);
}

/** In place, without its factor: products of two results are `transformed_channels` times those of the inputs. */
static void hadamard(float *x, int channels) {
  for (int i = 0; i < channels; i += LANES) {
    v16f v = load(x + i);
    v = add_and_subtract(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14), 1);
    v = add_and_subtract(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13), 2);
    v = add_and_subtract(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11), 4);
    v = add_and_subtract(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7), 8);
    store(x + i, v);
  }
  for (int distance = LANES; distance < transformed_channels(channels); distance *= 2)
    for (int i = 0; i < channels; i += LANES)
      if (!(i & distance)) {
        const v16f u = load(x + i), v = load(x + i + distance);
        store(x + i, u + v);
        store(x + i + distance, u - v);
      }
}

/** What the codes of a row stand for, and their sum. */
typedef struct { float scale; int32_t sum; } RoundedRow;

/** Rounds a row to codes of -127 to 127. */
static __attribute__((noinline)) RoundedRow round_row(const float *x, int channels, int8_t *codes) {
  v16f peaks = splat(0);
  for (int i = 0; i < channels; i += LANES) peaks = larger_magnitude(peaks, magnitude(load(x + i)));
  const float peak = max_magnitude(peaks), inverse = peak > SMALLEST_PEAK ? 127.0f / peak : 0;
  v16i sum = {0};
  for (int i = 0; i < channels; i += LANES) {
    const v16c narrow = __builtin_convertvector(round_to_int(load(x + i) * inverse), v16c);
    // Of the narrow codes: those of inputs that are not finite are any, and a sum of them does not wrap.
    sum += __builtin_convertvector(narrow, v16i);
    *(v16c_memory *)(codes + i) = narrow;
  }
  return (RoundedRow){peak / 127.0f, sum_int_lanes(sum)};
}

static void append_int8_key(uint8_t *group, int lane, int channels, const float *x) {
  int8_t codes[MAX_HEAD_SIZE];
  ((float *)(group + (size_t)GROUP * channels))[lane] = round_row(x, channels, codes).scale;
  for (int i = 0; i < channels; i += 4) {
    uint32_t quad;
    __builtin_memcpy(&quad, codes + i, 4);
    quad ^= 0x80808080;
    __builtin_memcpy(group + i * GROUP + lane * 4, &quad, 4);
  }
}

static void append_int8_value(uint8_t *group, int lane, int channels, const float *x) {
  int8_t codes[MAX_HEAD_SIZE];
  ((float *)(group + (size_t)GROUP * channels))[lane] = round_row(x, channels, codes).scale;
  uint8_t *p = group + lane / 4 * channels * 4 + lane % 4;
  for (int i = 0; i < channels; i++) p[i * 4] = (uint8_t)codes[i];
}

/** `factor` is that of the scores. */
static void append_int8_query(const QueryBlock *block, int row, int channels, float factor, const float *x) {
  int8_t codes[MAX_HEAD_SIZE];
  const RoundedRow rounded = round_row(x, channels, codes);
  for (int i = 0; i < channels; i += 4) __builtin_memcpy(block->codes + i * block->rows + row * 4, codes + i, 4);
  block->scales[row] = rounded.scale * (factor / (float)transformed_channels(channels));
  block->shifts[row] = -128 * rounded.sum;
}
