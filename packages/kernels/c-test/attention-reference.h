// Attention in double precision over the cache as it is, and what the cache should hold.
#pragma once
#include "reference.h"

/** One head of a token behind norm and rotation. Shape: [head_size]. */
static inline void read_head(const Attention *a, const float *x, const float *norm, int is_rotated, int position, double *out) {
  const int half = a->rotary / 2;
  if (norm) norm_of(x, norm, a->head_size, a->epsilon, out);
  else for (int i = 0; i < a->head_size; i++) out[i] = x[i];
  for (int i = 0; i < half && is_rotated && a->cosines; i++) {
    const int first = a->is_interleaved ? 2 * i : i, second = a->is_interleaved ? 2 * i + 1 : i + half;
    const double u = out[first], v = out[second];
    const double cosine = a->cosines[position * half + i], sine = a->sines[position * half + i];
    out[first] = u * cosine - v * sine;
    out[second] = v * cosine + u * sine;
  }
}

static inline double number_at(CacheType type, const uint8_t *p) {
  float value;
  if (type == CACHE_F16) return half_at(p);
  if (type == CACHE_INT8) return (int8_t)*p;
  memcpy(&value, p, 4);
  return value;
}

/** The number of a cache at a head, position and channel; in int8 with its scale. */
static inline double cached(const Attention *a, const uint8_t *cache, int is_key, int head, int position, int channel) {
  const size_t element = a->type == CACHE_F32 ? 4 : a->type == CACHE_F16 ? 2 : 1;
  const size_t channels = ((size_t)a->head_size + 15) / 16 * 16, row = channels + (a->type == CACHE_INT8 ? 4 : 0);
  const uint8_t *p = cache + (size_t)head * a->capacity * row * element;
  const uint8_t *group = p + (size_t)(position / 16) * 16 * row * element, *values = p + (size_t)position * row * element;
  const double number = number_at(a->type, is_key ? group + (channel * 16 + position % 16) * element : values + channel * element);
  float scale = 1;
  if (a->type == CACHE_INT8) memcpy(&scale, is_key ? group + channels * 16 + position % 16 * 4 : values + channels, 4);
  return number * scale;
}

/** What a token appended: each number within the rounding of the cache's type. */
static inline void check_cache(const Attention *a, const uint8_t *cache, int is_key, int head, int position, const double *expected) {
  double peak = 0;
  for (int i = 0; i < a->head_size; i++) peak = fmax(peak, fabs(expected[i]));
  for (int i = 0; i < a->head_size; i++) {
    const double error = a->type == CACHE_INT8 ? peak / 254 * 1.0001 : a->type == CACHE_F16 ? fabs(expected[i]) / 2048 + 1e-7 : 0;
    expect_near(is_key ? "key" : "value", cached(a, cache, is_key, head, position, i), expected[i], error + 4e-6 * peak);
  }
}

/** Checks the cache of one sequence and the results of all its tokens. Shape: `out` is [tokens, heads * head_size]. */
static inline void check_attention(const Attention *a, int tokens, const float *qkv, const float *out) {
  const int size = a->head_size, group = a->heads / a->kv_heads;
  const size_t columns = (size_t)(a->heads + 2 * a->kv_heads) * size;
  double *x = new_buffer((size_t)size * 8), *scores = new_buffer((size_t)tokens * 8);
  for (int t = 0; t < tokens; t++)
    for (int head = 0; head < a->kv_heads; head++) {
      const float *key = qkv + t * columns + (size_t)(a->heads + head) * size;
      read_head(a, key, a->key_norm, 1, t, x);
      check_cache(a, a->keys, 1, head, t, x);
      read_head(a, key + (size_t)a->kv_heads * size, 0, 0, t, x);
      check_cache(a, a->values, 0, head, t, x);
    }
  for (int t = 0; t < tokens; t++)
    for (int head = 0; head < a->heads; head++) {
      read_head(a, qkv + t * columns + (size_t)head * size, a->query_norm, 1, t, x);
      const int first = a->window > 0 && t + 1 > a->window ? t + 1 - a->window : 0;
      double peak = a->sinks ? a->sinks[head] : -1e300, magnitude = 0;
      for (int k = first; k <= t; k++) {
        double score = 0, terms = 0;
        for (int i = 0; i < size; i++) {
          const double term = x[i] * a->scale * cached(a, a->keys, 1, head / group, k, i);
          score += term, terms += fabs(term);
        }
        if (a->softcap > 0) score = a->softcap * tanh(score / a->softcap);
        scores[k] = score;
        peak = fmax(peak, score), magnitude = fmax(magnitude, terms);
      }
      double sum = a->sinks ? exp(a->sinks[head] - peak) : 0;
      for (int k = first; k <= t; k++) sum += scores[k] = exp(scores[k] - peak);
      for (int i = 0; i < size; i++) {
        double expected = 0, most = 0;
        for (int k = first; k <= t; k++) {
          const double value = cached(a, a->values, 0, head / group, k, i);
          expected += scores[k] / sum * value;
          most = fmax(most, fabs(value));
        }
        expect_near("attention", out[((size_t)t * a->heads + head) * size + i], expected, 3e-6 * (1 + magnitude) * most + 1e-30);
      }
    }
  free_buffer(x), free_buffer(scores);
}
