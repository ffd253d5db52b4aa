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

static inline size_t channels_of(const Attention *a) { return ((size_t)a->head_size + 15) / 16 * 16; }

static inline double number_at(CacheType type, const uint8_t *p) {
  float value;
  if (type == CACHE_F16) return half_at(p);
  memcpy(&value, p, 4);
  return value;
}

/** Of an int8 cache, without the scale: the number at a head, position and channel. */
static inline int cached_code(const Attention *a, const uint8_t *cache, int is_key, int head, int position, int channel) {
  const size_t channels = channels_of(a), lane = (size_t)position % 16;
  const uint8_t *group = cache + ((size_t)head * a->capacity + position / 16 * 16) * (channels + 4);
  return is_key ? group[(size_t)(channel / 4) * 64 + lane * 4 + channel % 4] - 128
                : (int8_t)group[(lane / 4 * channels + channel) * 4 + lane % 4];
}

static inline double cached_scale(const Attention *a, const uint8_t *cache, int head, int position) {
  const size_t channels = channels_of(a);
  float scale;
  memcpy(&scale, cache + ((size_t)head * a->capacity + position / 16 * 16) * (channels + 4) + 16 * channels + position % 16 * 4, 4);
  return scale;
}

/** The number of a cache at a head, position and channel; in int8 with its scale. */
static inline double cached(const Attention *a, const uint8_t *cache, int is_key, int head, int position, int channel) {
  if (a->type == CACHE_INT8) return cached_code(a, cache, is_key, head, position, channel) * cached_scale(a, cache, head, position);
  const size_t element = a->type == CACHE_F32 ? 4 : 2, row = channels_of(a);
  const uint8_t *p = cache + (size_t)head * a->capacity * row * element;
  const uint8_t *group = p + (size_t)(position / 16) * 16 * row * element, *values = p + (size_t)position * row * element;
  return number_at(a->type, is_key ? group + (channel * 16 + position % 16) * element : values + channel * element);
}

/** How many channels a Hadamard transform has: the largest power of two that divides those of the cache. */
static inline int transform_size(const Attention *a) {
  int size = 16;
  while (channels_of(a) % (2 * size) == 0) size *= 2;
  return size;
}

/** Each block of channels times the matrix whose entry i, j is -1 to the number of bits that i and j have in common. */
static inline void transform(const Attention *a, double *x) {
  const int size = transform_size(a);
  double y[MAX_HEAD_SIZE];
  for (int block = 0; block < (int)channels_of(a); block += size) {
    for (int i = 0; i < size; i++) {
      y[i] = 0;
      for (int j = 0; j < size; j++) y[i] += __builtin_popcount(i & j) % 2 ? -x[block + j] : x[block + j];
    }
    memcpy(x + block, y, (size_t)size * sizeof *y);
  }
}

/** What a token appended: each number within the rounding of the cache's type. */
static inline void check_cache(const Attention *a, const uint8_t *cache, int is_key, int head, int position, const double *expected) {
  const int is_int8 = a->type == CACHE_INT8, count = is_int8 ? (int)channels_of(a) : a->head_size;
  double peak = 0;
  for (int i = 0; i < count; i++) peak = fmax(peak, fabs(expected[i]));
  for (int i = 0; i < count; i++) {
    const double error = is_int8 ? peak / 254 * 1.0001 : a->type == CACHE_F16 ? fabs(expected[i]) / 2048 + 1e-7 : 0;
    expect_near(is_key ? "key" : "value", cached(a, cache, is_key, head, position, i), expected[i], error + 4e-6 * peak);
  }
}

/** Rounded to a code. Mutates: `doubt`, to 1 where errors of `margin` might give the neighbouring code. */
static inline double rounded(double x, double margin, double *doubt) {
  *doubt = fabs(fabs(x - floor(x)) - 0.5) < margin;
  return nearbyint(x);
}

/** Rounds a transformed query to codes. Gives what one of them stands for. */
static inline double round_query(const Attention *a, double *x, double *doubts) {
  double peak = 0;
  transform(a, x);
  for (size_t i = 0; i < channels_of(a); i++) peak = fmax(peak, fabs(x[i]));
  for (size_t i = 0; i < channels_of(a); i++) x[i] = peak > 0 ? rounded(x[i] * 127 / peak, 1e-3, &doubts[i]) : (doubts[i] = 0);
  return peak / 127 / transform_size(a);
}

static inline double cached_value(const Attention *a, int head, int position, int channel) {
  return cached(a, a->values, a->keys_only, head, position, channel);
}

/** What a row gets of a head's values, how far it may be off, and the largest magnitude of a value. */
typedef struct { double sum, error, most; } Weighted;

/** Channel `i` of the values, weighted: those of keys `first` to `last`. `weights` are relative to the largest, known to `error`. */
static inline Weighted weighted_values(const Attention *a, int head, int i, const double *weights, int first, int last, double error) {
  Weighted result = {0};
  for (int k = first; k <= last; k++) result.most = fmax(result.most, fabs(cached_value(a, head, k, i)));
  for (int k = first; k <= last && a->type != CACHE_INT8; k++) result.sum += weights[k] * cached_value(a, head, k, i);
  if (a->type != CACHE_INT8) return result;
  // Weights times scales are rounded to codes for each group of 16 keys.
  for (int group = first / 16 * 16; group <= last; group += 16) {
    const int from = first > group ? first : group, to = last < group + 15 ? last : group + 15;
    double peak = 0, doubt;
    for (int k = from; k <= to; k++) peak = fmax(peak, weights[k] * cached_scale(a, a->values, head, k));
    for (int k = from; k <= to && peak > 0; k++) {
      const double code = rounded(weights[k] * cached_scale(a, a->values, head, k) * 127 / peak, 254 * error, &doubt);
      const double value = peak / 127 * cached_code(a, a->values, a->keys_only, head, k, i);
      result.sum += code * value;
      result.error += doubt * fabs(value);
    }
  }
  return result;
}

/** Sums of transformed keys as sums of keys. */
static inline void undo_transform(const Attention *a, Weighted *x) {
  const int size = transform_size(a);
  double sums[MAX_HEAD_SIZE];
  for (size_t i = 0; i < channels_of(a); i++) sums[i] = x[i].sum / size;
  transform(a, sums);
  for (int block = 0; block < (int)channels_of(a); block += size) {
    double error = 0, most = 0;
    for (int i = 0; i < size; i++) error += x[block + i].error / size, most += x[block + i].most / size;
    for (int i = 0; i < size; i++) x[block + i] = (Weighted){sums[block + i], error, most};
  }
}

/** Checks the cache of one sequence and the results of all its tokens. Shape: `out` is [tokens, heads * head_size]. */
static inline void check_attention(const Attention *a, int tokens, const float *qkv, const float *out) {
  const int size = a->head_size, group = a->heads / a->kv_heads, is_int8 = a->type == CACHE_INT8;
  const int count = is_int8 ? (int)channels_of(a) : size;
  const size_t columns = (size_t)packed_heads(a) * size;
  double x[MAX_HEAD_SIZE], doubts[MAX_HEAD_SIZE], *scores = new_buffer((size_t)tokens * 8);
  for (int t = 0; t < tokens; t++)
    for (int head = 0; head < a->kv_heads; head++) {
      const float *key = qkv + t * columns + (size_t)(a->heads + head) * size;
      memset(x, 0, sizeof x);
      read_head(a, key, a->key_norm, 1, t, x);
      if (is_int8) transform(a, x);
      check_cache(a, a->keys, 1, head, t, x);
      if (a->keys_only) continue;
      memset(x, 0, sizeof x);
      read_head(a, key + (size_t)a->kv_heads * size, 0, 0, t, x);
      check_cache(a, a->values, 0, head, t, x);
    }
  for (int t = 0; t < tokens; t++)
    for (int head = 0; head < a->heads; head++) {
      memset(x, 0, sizeof x);
      read_head(a, qkv + t * columns + (size_t)head * size, a->query_norm, 1, t, x);
      memset(doubts, 0, sizeof doubts);
      const double scale = a->scale * (is_int8 ? round_query(a, x, doubts) : 1);
      const int first = a->window > 0 && t + 1 > a->window ? t + 1 - a->window : 0;
      double peak = a->sinks ? a->sinks[head] : -1e300, magnitude = 0, doubt = 0;
      for (int k = first; k <= t; k++) {
        double score = 0, terms = 0, doubted = 0;
        for (int i = 0; i < count; i++) {
          const double factor = scale * cached(a, a->keys, 1, head / group, k, i);
          score += x[i] * factor, terms += fabs(x[i] * factor), doubted += doubts[i] * fabs(factor);
        }
        if (a->softcap > 0) score = a->softcap * tanh(score / a->softcap);
        scores[k] = score;
        peak = fmax(peak, score), magnitude = fmax(magnitude, terms), doubt = fmax(doubt, doubted);
      }
      double sum = a->sinks ? exp(a->sinks[head] - peak) : 0;
      for (int k = first; k <= t; k++) sum += scores[k] = exp(scores[k] - peak);
      const double error = 3e-6 * (1 + magnitude) + 2 * doubt;
      Weighted expected[MAX_HEAD_SIZE];
      for (int i = 0; i < count; i++) expected[i] = weighted_values(a, head / group, i, scores, first, t, error);
      if (a->keys_only && is_int8) undo_transform(a, expected);
      for (int i = 0; i < size; i++) {
        const double bound = error * expected[i].most + expected[i].error / sum + 1e-30;
        expect_near("attention", out[((size_t)t * a->heads + head) * size + i], expected[i].sum / sum, bound);
      }
    }
  free_buffer(scores);
}
