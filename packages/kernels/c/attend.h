// The second part of attention: softmax over the keys and the sum of values, in pieces of keys.
//
// Each row of queries goes through the pieces in order, and what it computes depends on its own limits only: a result is the same
// bit for bit alone, in a batch, in a chunk of a prompt of any length, and however pieces are shared by threads.
#pragma once
#include "append.h"
#include "panel.h"

#define MASKED -3.402823466e38f

/** The rows of a block: which keys each attends to, [first, end). */
typedef struct { int first[QUERY_ROWS], end[QUERY_ROWS]; int least, most; } Limits;

static Limits row_limits(const Attention *a, int sequence, int block) {
  const int group = a->heads / a->kv_heads, rows = query_rows(a);
  Limits limits = {.least = 0x7fffffff, .most = 0};
  for (int r = 0; r < QUERY_ROWS; r++) {
    const int row = block * QUERY_ROWS + r;
    if (row >= rows) {
      limits.first[r] = limits.end[r] = 0;
      continue;
    }
    const int end = a->last[sequence] - a->length + 2 + row / group;
    const int first = a->window > 0 ? max_int(0, end - a->window) : 0;
    limits.first[r] = first;
    limits.end[r] = end;
    limits.least = min_int(limits.least, first);
    limits.most = max_int(limits.most, end);
  }
  return limits;
}

/** A block of rows over one piece of keys: `first` to `end`, counted from the start of the piece. */
typedef struct {
  const Attention *attention;
  const uint8_t *keys, *values;
  /** Shape: [head_size][rows]. */
  const float *queries;
  const Limits *limits;
  int rows, from, first, end;
} Work;

typedef struct { float rows[QUERY_ROWS][PIECE]; } Scores;

/** Products of keys `first` to `end`, whole groups, with ROWS rows from `row` on. ROWS is a constant where this is called. */
INLINE void score_keys(const Work *w, CacheType type, int first, int end, int row, Scores *s, const int ROWS) {
  const int size = w->attention->head_size, width = SCORE_ROWS == QUERY_ROWS ? ROWS : w->rows;
  const size_t step = LANES * cache_element_bytes(type), group_bytes = key_group_bytes(type, size);
  for (int k = first; k < end; k += GROUP) {
    const uint8_t *p = w->keys + (size_t)((w->from + k) / GROUP) * group_bytes;
    v16f even[SCORE_ROWS], odd[SCORE_ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) even[r] = odd[r] = splat(0);
    const float *x = w->queries + row;
    int d = 0;
    for (; d + 1 < size; d += 2, x += 2 * width) {
      const v16f k0 = load_cache(type, p + d * step), k1 = load_cache(type, p + (d + 1) * step);
      __builtin_prefetch(p + d * step + group_bytes);
      if (type == CACHE_F32) __builtin_prefetch(p + (d + 1) * step + group_bytes);
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
    const v16f scale = type == CACHE_INT8 ? load((const float *)(p + (size_t)GROUP * cache_channels(size))) : splat(1);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const v16f score = even[r] + odd[r];
      store(&s->rows[row + r][k], type == CACHE_INT8 ? score * scale : score);
    }
  }
}

/** Scores of one row become weights. Gives the largest score and the sum of weights. */
static void weigh_scores(const Work *w, int row, float *scores, float *peaks, float *sums) {
  const float softcap = w->attention->softcap;
  const v16i lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  v16f most = splat(MASKED), sum = splat(0);
  for (int k = w->first; k < w->end; k += GROUP) {
    v16f score = load(scores + k);
    if (softcap > 0) score = softcap * tanh16(score / softcap);
    const v16i index = lanes + (w->from + k);
    const v16i is_seen = (index >= w->limits->first[row]) & (index < w->limits->end[row]);
    score = choose(is_seen, score, splat(MASKED));
    most = largest(most, score);
    store(scores + k, score);
  }
  const float peak = max_lanes(most);
  for (int k = w->first; k < w->end; k += GROUP) {
    const v16f score = load(scores + k);
    const v16f weight = choose(score > MASKED, exp16(score - peak), splat(0));
    sum = sum + weight;
    store(scores + k, weight);
  }
  peaks[row] = peak;
  sums[row] = sum_lanes(sum);
}

/** Weights times the scales of int8 values. */
static void scale_weights(const Work *w, Scores *s) {
  const int size = w->attention->head_size, channels = cache_channels(size);
  const size_t row_bytes = value_row_bytes(CACHE_INT8, size);
  _Alignas(64) float scales[GROUP] = {0};
  for (int k = w->first; k < w->end; k += GROUP) {
    // The last group may have fewer keys; weights behind them are not read.
    for (int i = 0; i < min_int(GROUP, w->end - k); i++)
      __builtin_memcpy(&scales[i], w->values + (size_t)(w->from + k + i) * row_bytes + channels, 4);
    for (int r = 0; r < w->rows; r++) store(&s->rows[r][k], load(&s->rows[r][k]) * load(scales));
  }
}

/** Sums of 16 or 32 channels of values for ROWS rows from `row` on. ROWS and VECTORS are constants where this is called. */
INLINE void sum_values(const Work *w, CacheType type, int channel, int row, const Scores *s, float *out, const int ROWS,
                       const int VECTORS) {
  const int size = w->attention->head_size, channels = cache_channels(size);
  const size_t step = LANES * cache_element_bytes(type), row_bytes = value_row_bytes(type, size);
  v16f y[VALUE_ROWS][2];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < VECTORS; i++) y[r][i] = splat(0);
  const uint8_t *p = w->values + (size_t)(w->from + w->first) * row_bytes + channel * cache_element_bytes(type);
  for (int k = w->first; k < w->end; k++, p += row_bytes) {
    v16f v[2];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      v[i] = load_cache(type, p + i * step);
      __builtin_prefetch(p + 16 * row_bytes + i * step);
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

// A function for each type of cache and number of rows, with both as constants.
#define ROWS_OF(type, count) \
  static void score_##type##_##count(const Work *w, int first, int end, int row, Scores *s) { \
    if (count <= SCORE_ROWS) score_keys(w, CACHE_##type, first, end, row, s, count); \
  } \
  static void sum_##type##_##count(const Work *w, int channel, int row, const Scores *s, float *out) { \
    if (count <= VALUE_ROWS) sum_values(w, CACHE_##type, channel, row, s, out, count, 2); \
  }
#define CACHE(type) \
  ROWS_OF(type, 1) ROWS_OF(type, 2) ROWS_OF(type, 4) ROWS_OF(type, 8)
CACHE(F32) CACHE(F16) CACHE(INT8)

/** Heads of 16 channels or less, which only the smallest models have: one row, whatever the type. */
static void sum_narrow(const Work *w, int row, const Scores *s, float *out) {
  sum_values(w, w->attention->type, 0, row, s, out, 1, 1);
}

typedef struct {
  /** For 1, 2, 4 and 8 rows. */
  void (*score[4])(const Work *, int first, int end, int row, Scores *);
  void (*sum[4])(const Work *, int channel, int row, const Scores *, float *out);
} CacheFunctions;
#define FUNCTIONS(type) \
  {{score_##type##_1, score_##type##_2, score_##type##_4, score_##type##_8}, {sum_##type##_1, sum_##type##_2, sum_##type##_4, sum_##type##_8}}
static const CacheFunctions CACHE_FUNCTIONS[3] = {FUNCTIONS(F32), FUNCTIONS(F16), FUNCTIONS(INT8)};

/** Keys that several passes of few rows go through before the next ones: they stay in the nearest cache. */
enum { PASS_KEYS = 64 };

/** One piece of keys for one block of rows. Shape: `out` is [rows of the block, channels]. Returns 0 where no row attends to it. */
static int attend(const Attention *a, int sequence, int head, int block, int piece, const Limits *limits, float *out, float *peaks, float *sums) {
  if (limits->most <= piece * PIECE || limits->least >= (piece + 1) * PIECE) return 0;
  const size_t index = (size_t)sequence * a->kv_heads + head, groups = a->capacity / GROUP;
  const int from = piece * PIECE, rows = block_rows(min_int(QUERY_ROWS, query_rows(a) - block * QUERY_ROWS));
  const Work w = {
      .attention = a,
      .keys = a->keys + index * groups * key_group_bytes(a->type, a->head_size),
      .values = a->values + index * a->capacity * value_row_bytes(a->type, a->head_size),
      .queries = query_block(a, sequence, head, block),
      .limits = limits,
      .rows = rows,
      .from = from,
      // Groups of keys that no row attends to are left out; their weights would be zero.
      .first = max_int(0, limits->least - from) / GROUP * GROUP,
      .end = min_int(PIECE, limits->most - from),
  };
  const CacheFunctions *functions = &CACHE_FUNCTIONS[a->type];
  _Alignas(64) Scores s;
  const int score_rows = min_int(rows, SCORE_ROWS), pass = rows > SCORE_ROWS ? PASS_KEYS : PIECE;
  for (int k = w.first; k < w.end; k += pass)
    for (int r = 0; r < rows; r += score_rows) functions->score[rows_index(score_rows)](&w, k, min_int(k + pass, w.end), r, &s);
  for (int r = 0; r < rows; r++) weigh_scores(&w, r, s.rows[r], peaks, sums);
  if (a->type == CACHE_INT8) scale_weights(&w, &s);
  const int channels = cache_channels(a->head_size), value_rows = min_int(rows, VALUE_ROWS);
  for (int c = 0; c < channels; c += 2 * LANES)
    if (channels == LANES)
      for (int r = 0; r < rows; r++) sum_narrow(&w, r, &s, out);
    else // the last 32 channels may overlap with those before, and give the same numbers
      for (int r = 0; r < rows; r += value_rows)
        functions->sum[rows_index(value_rows)](&w, min_int(c, channels - 2 * LANES), r, &s, out);
  return rows;
}

/** The softmax so far, for each row: what a further piece is added to. */
typedef struct { float *values, *peaks, *sums; } State;

static void begin_row(const Attention *a, int head, int row, State s, int at) {
  const int channels = cache_channels(a->head_size), group = a->heads / a->kv_heads;
  for (int i = 0; i < channels; i += LANES) store(s.values + (size_t)at * channels + i, splat(0));
  s.peaks[at] = a->sinks ? a->sinks[head * group + row % group] : MASKED;
  s.sums[at] = a->sinks ? 1.0f : 0.0f;
}

static void add_piece(const Attention *a, State s, int at, const float *values, float peak, float sum) {
  const int channels = cache_channels(a->head_size);
  const float most = peak > s.peaks[at] ? peak : s.peaks[at];
  const v16f old = exp16(splat(s.peaks[at] - most)), new = exp16(splat(peak - most));
  float *y = s.values + (size_t)at * channels;
  for (int i = 0; i < channels; i += LANES) store(y + i, fma16(load(values + i), new, load(y + i) * old));
  s.sums[at] = __builtin_fmaf(sum, new[0], s.sums[at] * old[0]);
  s.peaks[at] = most;
}

static void finish_row(const Attention *a, int sequence, int head, int row, State s, int at) {
  const int size = a->head_size, group = a->heads / a->kv_heads;
  const size_t token = (size_t)sequence * a->length + row / group;
  float *out = a->out + (token * a->heads + head * group + row % group) * size;
  const float *y = s.values + (size_t)at * cache_channels(size), factor = 1.0f / s.sums[at];
  for (int i = 0; i < size; i++) out[i] = y[i] * factor;
}

/** Few rows, at most `QUERY_ROWS`: pieces are shared by threads. */
static void attend_piece(const Attention *a, int sequence, int head, int piece) {
  const size_t at = (((size_t)sequence * a->kv_heads + head) * a->pieces + piece) * QUERY_ROWS;
  const Limits limits = row_limits(a, sequence, 0);
  attend(a, sequence, head, 0, piece, &limits, a->piece_values + at * cache_channels(a->head_size), a->piece_peaks + at, a->piece_sums + at);
}

static void merge_pieces(const Attention *a, int sequence, int head) {
  _Alignas(64) float values[MAX_HEAD_SIZE];
  float peak, sum;
  const State s = {values, &peak, &sum};
  const Limits limits = row_limits(a, sequence, 0);
  const int channels = cache_channels(a->head_size);
  for (int row = 0; row < query_rows(a); row++) {
    begin_row(a, head, row, s, 0);
    for (int piece = limits.least / PIECE; piece * PIECE < limits.most; piece++) {
      const size_t at = (((size_t)sequence * a->kv_heads + head) * a->pieces + piece) * QUERY_ROWS + row;
      add_piece(a, s, 0, a->piece_values + at * channels, a->piece_peaks[at], a->piece_sums[at]);
    }
    finish_row(a, sequence, head, row, s, 0);
  }
}

/** Many rows: a thread takes some of them through all pieces; `memory` has `item_bytes`. */
static void attend_rows(const Attention *a, int sequence, int head, int first_row, int row_count, uint8_t *memory) {
  const int channels = cache_channels(a->head_size), first_block = first_row / QUERY_ROWS;
  const int blocks = (row_count + QUERY_ROWS - 1) / QUERY_ROWS;
  float *values = (float *)memory, *peaks = values + (size_t)ITEM_ROWS * channels, *sums = peaks + ITEM_ROWS;
  float *piece_values = sums + ITEM_ROWS, *piece_peaks = piece_values + (size_t)QUERY_ROWS * channels, *piece_sums = piece_peaks + QUERY_ROWS;
  const State s = {values, peaks, sums};
  int least = 0x7fffffff, most = 0;
  for (int b = 0; b < blocks; b++) {
    const Limits limits = row_limits(a, sequence, first_block + b);
    least = min_int(least, limits.least);
    most = max_int(most, limits.most);
  }
  for (int r = 0; r < row_count; r++) begin_row(a, head, first_row + r, s, r);
  for (int piece = least / PIECE; piece * PIECE < most; piece++)
    for (int b = 0; b < blocks; b++) {
      const Limits limits = row_limits(a, sequence, first_block + b);
      if (!attend(a, sequence, head, first_block + b, piece, &limits, piece_values, piece_peaks, piece_sums)) continue;
      for (int r = 0; r < QUERY_ROWS && b * QUERY_ROWS + r < row_count; r++)
        add_piece(a, s, b * QUERY_ROWS + r, piece_values + (size_t)r * channels, piece_peaks[r], piece_sums[r]);
    }
  for (int r = 0; r < row_count; r++) finish_row(a, sequence, head, first_row + r, s, r);
}
