// The first part of attention: queries and keys are normalised and rotated, keys and values appended to the cache.
#pragma once
#include "append-int8.h"

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
static void append_key(const Attention *a, size_t head, int place, const float *x) {
  const int size = a->head_size, channels = cache_channels(size), lane = place % GROUP;
  uint8_t *group = a->keys + (head * (a->capacity / GROUP) + place / GROUP) * key_group_bytes(a->type, size);
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
    case CACHE_INT8: return append_int8_key(group, lane, channels, x);
  }
}

static void append_value(const Attention *a, size_t head, int place, const float *x) {
  const int size = a->head_size, channels = cache_channels(size);
  const size_t row_bytes = value_row_bytes(a->type, size);
  uint8_t *values = a->values + head * a->capacity * row_bytes;
  switch (a->type) {
    case CACHE_F32:
      for (int i = 0; i < channels; i += LANES) store((float *)(values + place * row_bytes) + i, load(x + i));
      return;
    case CACHE_F16:
      for (int i = 0; i < channels; i += LANES) store_half((_Float16 *)(values + place * row_bytes) + i, load(x + i));
      return;
    case CACHE_INT8: return append_int8_value(values + place / GROUP * GROUP * row_bytes, place % GROUP, channels, x);
  }
}

/** Zero behind the head's last channel. */
INLINE void copy_head(float *to, const float *from, int size, int channels) {
  int i = 0;
  for (; i + LANES <= size; i += LANES) store(to + i, load(from + i));
  for (; i < size; i++) to[i] = from[i];
  for (; i < channels; i++) to[i] = 0;
}

/** Writes a row of queries into its block. `x` has `cache_channels` elements. */
static void append_query(const Attention *a, int sequence, int head, int row, const float *x) {
  const QueryBlock block = query_block(a, sequence, head, row / QUERY_ROWS);
  const int at = row % QUERY_ROWS;
  if (a->type == CACHE_INT8) append_int8_query(&block, at, cache_channels(a->head_size), a->scale, x);
  else for (int i = 0; i < a->head_size; i++) block.values[i * block.rows + at] = x[i] * a->scale;
}

static void prepare_token(const Attention *a, int token) {
  const int sequence = token / a->length, t = token % a->length, size = a->head_size, channels = cache_channels(size);
  const int position = a->last[sequence] - a->length + 1 + t, group = a->heads / a->kv_heads;
  const int first_value = a->heads + a->kv_heads, all = a->heads + appended_heads(a);
  const float *qkv = a->qkv + (size_t)token * packed_heads(a) * size;
  _Alignas(64) float x[MAX_HEAD_SIZE];
  for (int head = 0; head < all; head++, qkv += size) {
    const int is_query = head < a->heads;
    copy_head(x, qkv, size, channels);
    // Its gate comes next.
    if (is_query && a->is_gated) qkv += size;
    if (head < first_value) {
      const float *norm = is_query ? a->query_norm : a->key_norm;
      if (norm) normalise_head(x, norm, size, a->epsilon);
      if (a->cosines) rotate_head(a, x, position);
      if (a->type == CACHE_INT8) hadamard(x, channels);
    }
    const size_t kv_head = (size_t)sequence * a->kv_heads - a->heads + head;
    const int place = cache_place(a, position);
    if (is_query) append_query(a, sequence, head / group, t * group + head % group, x);
    else if (head < first_value) append_key(a, kv_head, place, x);
    else append_value(a, kv_head - a->kv_heads, place, x);
  }
  if (t < a->length - 1) return;
  // Rows that fill the last block of queries are zero.
  const int rows = query_rows(a), last = (rows - 1) / QUERY_ROWS * QUERY_ROWS;
  for (int i = 0; i < channels; i += LANES) store(x + i, splat(0));
  for (int head = 0; head < a->kv_heads; head++)
    for (int row = rows; row < last + block_rows(a->type, rows - last); row++) append_query(a, sequence, head, row, x);
}
