// Attention of new tokens over the cache, which they are appended to first.
#pragma once
#include "cache.h"

enum {
  /** Keys whose softmax is computed together. Pieces begin at multiples of it, so a result does not depend on the call. */
  PIECE = 256,
  /** Rows of queries that share each load of a key. */
  QUERY_ROWS = 8,
  /** Rows of one work item of a prompt. */
  ITEM_ROWS = 32,
  MAX_HEAD_SIZE = 512,
};

typedef struct {
  /** Shape: [batch, length, (heads + 2 * kv_heads) * head_size]. */
  const float *qkv;
  int batch, length, heads, kv_heads, head_size;
  /** Positions of the last token of each sequence. */
  const int32_t *last;
  /** Null, or shape: [positions, rotary / 2]. */
  const float *cosines, *sines;
  /** Channels of a head that are rotated. */
  int rotary;
  /** Whether pairs are neighbours (2i, 2i + 1) instead of (i, i + rotary / 2). */
  int is_interleaved;
  /** Null, or the weights of the RMS norm of each head. Shape: [head_size]. */
  const float *query_norm, *key_norm;
  float epsilon;
  float scale;
  /** 0: none. */
  float softcap;
  /** Tokens that one attends to, itself included; 0: all. */
  int window;
  /** Null, or a logit for each head that takes part in the softmax and has no value. Shape: [heads]. */
  const float *sinks;
  CacheType type;
  int capacity;
  uint8_t *keys, *values;
  /** Shape: [batch, length, heads * head_size]. */
  float *out;

  /** Rotated and scaled queries, for each sequence and head of keys in blocks of rows: [blocks][head_size][rows of the block]. */
  float *queries;
  /** Results of pieces: [batch, kv_heads, pieces, QUERY_ROWS] of these. */
  float *piece_sums, *piece_peaks, *piece_values;
  int pieces;
} Attention;

/** Rows of queries of one sequence and head of keys: for each token the heads that share it. */
INLINE int query_rows(const Attention *a) { return a->length * (a->heads / a->kv_heads); }
INLINE int block_rows(int rows) { return rows > 4 ? 8 : rows > 2 ? 4 : rows; }
INLINE size_t query_floats(const Attention *a) {
  return round_up((size_t)query_rows(a), QUERY_ROWS) * (size_t)a->head_size;
}
INLINE float *query_block(const Attention *a, int sequence, int head, int block) {
  return a->queries + query_floats(a) * (size_t)(sequence * a->kv_heads + head) + (size_t)block * QUERY_ROWS * a->head_size;
}
/** Bytes that `attend_rows` works in. */
INLINE size_t item_bytes(const Attention *a) {
  return ((size_t)(ITEM_ROWS + QUERY_ROWS) * (cache_channels(a->head_size) + 2)) * 4;
}
