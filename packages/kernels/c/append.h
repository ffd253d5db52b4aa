// The first part of attention: queries and keys are normalised and rotated, keys and values appended to the cache.
#pragma once
#include "attention.h"

static void normalise_head(float *x, const float *weight, int count, float epsilon) {
  v16f sum = splat(0);
  int i = 0;
  for (; i + LANES <= count; i += LANES) sum = fma16(load(x + i), load(x + i), sum);
  v16f rest = splat(0);
  for (int j = 0; i + j < count; j++) rest[j] = x[i + j];
  sum = fma16(rest, rest, sum);
  const float factor = 1.0f / __builtin_sqrtf(sum_lanes(sum) / (float)count + epsilon);
  for (int j = 0; j < count; j++) x[j] = x[j] * factor * weight[j];
}

static void rotate_head(const Attention *a, float *x, int position) {
  const int half = a->rotary / 2, step = a->is_interleaved ? 2 : 1, distance = a->is_interleaved ? 1 : half;
  const float *cosine = a->cosines + (size_t)position * half, *sine = a->sines + (size_t)position * half;
  int i = 0;
  if (!a->is_interleaved)
    for (; i + LANES <= half; i += LANES) {
      const v16f u = load(x + i), v = load(x + half + i), c = load(cosine + i), s = load(sine + i);
      store(x + i, u * c - v * s);
      store(x + half + i, v * c + u * s);
    }
  for (; i < half; i++) {
    const float u = x[i * step], v = x[i * step + distance];
    x[i * step] = u * cosine[i] - v * sine[i];
    x[i * step + distance] = v * cosine[i] + u * sine[i];
  }
}

/** `x` has `cache_channels` elements. */
static void append_key(const Attention *a, size_t head, int position, const float *x) {
  const int size = a->head_size, channels = cache_channels(size), lane = position % GROUP;
  uint8_t *group = a->keys + (head * (a->capacity / GROUP) + position / GROUP) * key_group_bytes(a->type, size);
  switch (a->type) {
    case CACHE_F32:
      for (int i = 0; i < size; i++) ((float *)group)[i * GROUP + lane] = x[i];
      return;
    case CACHE_F16:
      for (int i = 0; i < channels; i += LANES) {
        _Float16 half[LANES];
        store_half(half, load(x + i));
        for (int j = 0; j < LANES; j++) ((_Float16 *)group)[(i + j) * GROUP + lane] = half[j];
      }
      return;
    case CACHE_INT8: {
      v16f peaks = splat(0);
      for (int i = 0; i < channels; i += LANES) peaks = larger_magnitude(peaks, magnitude(load(x + i)));
      const float peak = max_magnitude(peaks), inverse = peak > SMALLEST_PEAK ? 127.0f / peak : 0;
      for (int i = 0; i < channels; i += LANES) {
        const v16i codes = round_to_int(load(x + i) * inverse);
        for (int j = 0; j < LANES; j++) ((int8_t *)group)[(i + j) * GROUP + lane] = (int8_t)codes[j];
      }
      ((float *)(group + GROUP * channels))[lane] = peak / 127.0f;
      return;
    }
  }
}

static void append_value(const Attention *a, size_t head, int position, const float *x) {
  const int size = a->head_size, channels = cache_channels(size);
  uint8_t *row = a->values + (head * a->capacity + position) * value_row_bytes(a->type, size);
  switch (a->type) {
    case CACHE_F32:
      for (int i = 0; i < channels; i += LANES) store((float *)row + i, load(x + i));
      return;
    case CACHE_F16:
      for (int i = 0; i < channels; i += LANES) store_half((_Float16 *)row + i, load(x + i));
      return;
    case CACHE_INT8: {
      v16f peaks = splat(0);
      for (int i = 0; i < channels; i += LANES) peaks = larger_magnitude(peaks, magnitude(load(x + i)));
      const float peak = max_magnitude(peaks), inverse = peak > SMALLEST_PEAK ? 127.0f / peak : 0, scale = peak / 127.0f;
      for (int i = 0; i < channels; i += LANES)
        *(v16c_memory *)(row + i) = __builtin_convertvector(round_to_int(load(x + i) * inverse), v16c);
      __builtin_memcpy(row + channels, &scale, 4);
      return;
    }
  }
}

INLINE void copy_head(float *to, const float *from, int size) {
  int i = 0;
  for (; i + LANES <= size; i += LANES) store(to + i, load(from + i));
  for (; i < size; i++) to[i] = from[i];
}

static void prepare_token(const Attention *a, int token) {
  const int sequence = token / a->length, t = token % a->length, size = a->head_size, channels = cache_channels(size);
  const int position = a->last[sequence] - a->length + 1 + t, group = a->heads / a->kv_heads, rows = query_rows(a);
  const float *qkv = a->qkv + (size_t)token * (a->heads + 2 * a->kv_heads) * size;
  _Alignas(64) float x[MAX_HEAD_SIZE];
  for (int i = size; i < channels; i++) x[i] = 0;
  for (int head = 0; head < a->heads; head++, qkv += size) {
    copy_head(x, qkv, size);
    if (a->query_norm) normalise_head(x, a->query_norm, size, a->epsilon);
    if (a->cosines) rotate_head(a, x, position);
    const int row = t * group + head % group, block = row / QUERY_ROWS;
    const int width = block_rows(min_int(QUERY_ROWS, rows - block * QUERY_ROWS));
    float *queries = query_block(a, sequence, head / group, block) + row % QUERY_ROWS;
    for (int i = 0; i < size; i++) queries[i * width] = x[i] * a->scale;
    // Rows that fill the last block repeat nothing: they are zero.
    if (row == rows - 1)
      for (int r = row % QUERY_ROWS + 1; r < width; r++)
        for (int i = 0; i < size; i++) queries[i * width + r - row % QUERY_ROWS] = 0;
  }
  for (int head = 0; head < a->kv_heads; head++, qkv += size) {
    copy_head(x, qkv, size);
    if (a->key_norm) normalise_head(x, a->key_norm, size, a->epsilon);
    if (a->cosines) rotate_head(a, x, position);
    append_key(a, (size_t)sequence * a->kv_heads + head, position, x);
  }
  for (int head = 0; head < a->kv_heads; head++, qkv += size) {
    copy_head(x, qkv, size);
    append_value(a, (size_t)sequence * a->kv_heads + head, position, x);
  }
}
