// The second part of attention: softmax over the keys and the sum of values, in pieces of keys.
//
// Each row of queries goes through the pieces in order, and what it computes depends on its own limits only: a result is the same
// bit for bit alone, in a batch, in a chunk of a prompt of any length, and however pieces are shared by threads.
#pragma once
#include "append.h"
#include "attend-floats.h"
#include "softmax.h"

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

/** Keys that several passes of few rows go through before the next ones: they stay in the nearest cache. */
enum { PASS_KEYS = 64 };

/** One piece of keys for one block of rows. Shape: `out` is [rows of the block, channels]. Returns 0 where no row attends to it. */
static int attend(const Attention *a, int sequence, int head, int block, int piece, const Limits *limits, float *out, float *peaks, float *sums) {
  if (limits->most <= piece * PIECE || limits->least >= (piece + 1) * PIECE) return 0;
  const QueryBlock queries = query_block(a, sequence, head, block);
  const int from = piece * PIECE, rows = queries.rows;
  const size_t start = ((size_t)sequence * a->kv_heads + head) * a->capacity + cache_place(a, from);
  const Work w = {
      .attention = a,
      .keys = a->keys + start / GROUP * key_group_bytes(a->type, a->head_size),
      .values = a->values + start * value_row_bytes(a->type, a->head_size),
      .queries = queries,
      .limits = limits,
      .rows = rows,
      .used = min_int(QUERY_ROWS, query_rows(a) - block * QUERY_ROWS),
      .from = from,
      // Groups of keys that no row attends to are left out; their weights would be zero.
      .first = max_int(0, limits->least - from) / GROUP * GROUP,
      .end = min_int(PIECE, limits->most - from),
  };
  const CacheFunctions *functions = a->type == CACHE_INT8 ? a->int8 : &FLOAT_CACHE_FUNCTIONS[a->type];
  _Alignas(64) Scores s;
  const int score_rows = rows_at_once(functions, rows, functions->score_rows), pass = rows > score_rows ? PASS_KEYS : PIECE;
  const ScoreKeys score = functions->score[block_index(score_rows)];
  for (int k = w.first; k < w.end; k += pass)
    for (int r = 0; r < rows; r += score_rows) score(&w, k, min_int(k + pass, w.end), r, &s);
  for (int r = 0; r < w.used; r++) weigh_scores(&w, r, s.rows[r], peaks, sums);
  for (int r = w.used; r < rows; r++) clear_row(&s, r);
  if (a->type == CACHE_INT8) round_weights(&w, &s);
  const int channels = cache_channels(a->head_size);
  if (a->keys_only) {
    // There is room for eight rows of results, whatever the block has.
    for (int r = rows; r % functions->key_rows; r++) clear_row(&s, r);
    for (int c = 0; c < channels; c += KEY_CHANNELS)
      for (int r = 0; r < rows; r += functions->key_rows) functions->sum_keys(&w, c, r, &s, out);
    return rows;
  }
  const int wanted = LANES * (rows > 4 ? functions->vectors : functions->few_rows_vectors);
  const int is_narrow = channels < wanted, step = is_narrow ? LANES : wanted;
  const int value_rows = is_narrow ? 1 : rows_at_once(functions, rows, functions->value_rows);
  const SumValues sum = is_narrow ? functions->sum_narrow : functions->sum[block_index(value_rows)];
  // The last channels may overlap with those before, and give the same numbers.
  for (int c = 0; c < channels; c += step)
    for (int r = 0; r < rows; r += value_rows) sum(&w, min_int(c, channels - step), r, &s, out);
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
  const v16f both = exp16((v16f){s.peaks[at] - most, peak - most}), old = splat(both[0]), new = splat(both[1]);
  float *y = s.values + (size_t)at * channels;
  for (int i = 0; i < channels; i += LANES) store(y + i, fma16(load(values + i), new, load(y + i) * old));
  s.sums[at] = __builtin_fmaf(sum, new[0], s.sums[at] * old[0]);
  s.peaks[at] = most;
}

static void finish_row(const Attention *a, int sequence, int head, int row, State s, int at) {
  const int size = a->head_size, group = a->heads / a->kv_heads;
  const size_t token = (size_t)sequence * a->length + row / group;
  float *out = a->out + (token * a->heads + head * group + row % group) * size;
  float *y = s.values + (size_t)at * cache_channels(size);
  float factor = 1.0f / s.sums[at];
  if (a->keys_only && a->type == CACHE_INT8) {
    // Keys are cached behind the transform, which undoes itself but for its factor.
    hadamard(y, cache_channels(size));
    factor = factor / (float)transformed_channels(cache_channels(size));
  }
  for (int i = 0; i < size; i++) out[i] = y[i] * factor;
  if (!a->is_gated) return;
  const float *gate = a->qkv + (token * packed_heads(a) + 2 * (head * group + row % group) + 1) * size;
  int i = 0;
  for (; i + LANES <= size; i += LANES) store(out + i, load(out + i) / (exp16(-load(gate + i)) + 1.0f));
  v16f rest = splat(0);
  for (int j = 0; i + j < size; j++) rest[j] = gate[i + j];
  rest = exp16(-rest) + 1.0f;
  for (int j = 0; i + j < size; j++) out[i + j] = out[i + j] / rest[j];
}

/** Few rows: pieces are shared by threads. */
static void attend_piece(const Attention *a, int sequence, int head, int piece) {
  size_t at = (((size_t)sequence * a->kv_heads + head) * a->pieces + piece) * whole_rows(a);
  for (int block = 0; block * QUERY_ROWS < query_rows(a); block++, at += QUERY_ROWS) {
    const Limits limits = row_limits(a, sequence, block);
    attend(a, sequence, head, block, piece, &limits, a->piece_values + at * cache_channels(a->head_size), a->piece_peaks + at, a->piece_sums + at);
  }
}

static void merge_pieces(const Attention *a, int sequence, int head) {
  _Alignas(64) float values[MAX_HEAD_SIZE];
  float peak, sum;
  const State s = {values, &peak, &sum};
  const int channels = cache_channels(a->head_size);
  for (int row = 0; row < query_rows(a); row++) {
    const Limits limits = row_limits(a, sequence, row / QUERY_ROWS);
    begin_row(a, head, row, s, 0);
    for (int piece = limits.least / PIECE; piece * PIECE < limits.most; piece++) {
      const size_t at = (((size_t)sequence * a->kv_heads + head) * a->pieces + piece) * whole_rows(a) + row;
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
