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
  /** Latent attention has heads of 576: a latent row of 512 behind the 64 rotated channels. */
  MAX_HEAD_SIZE = 640,
};

typedef struct {
  /** Shape: [batch, length, packed_heads * head_size]. */
  const float *qkv;
  int batch, length, heads, kv_heads, head_size;
  /** Positions of the last token of each sequence. */
  const int32_t *last;
  /** Null, or shape: [positions, rotary / 2]. */
  const float *cosines, *sines;
  /** Channels of a head that are rotated. */
  int rotary;
  /** Whether each head of queries has a gate behind it: the result is multiplied by its sigmoid. */
  int is_gated;
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
  /** Whether the cache is that of another layer, which has appended the tokens: there are queries only. */
  int reads_only;
  /** Whether keys are the values too, as they are cached: there are no values in `qkv`, and `values` is `keys`. */
  int keys_only;
  int capacity;
  uint8_t *keys, *values;
  /** Shape: [batch, length, heads * head_size]. */
  float *out;

  /** With an int8 cache: the functions of the instruction set. */
  const struct CacheFunctions *int8;
  /** Rotated and scaled queries, for each sequence and head of keys in blocks of rows: see `QueryBlock`. */
  uint8_t *queries;
  /** Results of pieces, where these are shared by threads: [batch, kv_heads, pieces, whole blocks of rows] of these. */
  float *piece_sums, *piece_peaks, *piece_values;
  int pieces;
} Attention;

/** Heads of keys and values that a token appends. */
INLINE int appended_heads(const Attention *a) { return a->reads_only ? 0 : a->keys_only ? a->kv_heads : 2 * a->kv_heads; }
/** Heads of a token in `qkv`, gates included. */
INLINE int packed_heads(const Attention *a) { return a->heads * (a->is_gated ? 2 : 1) + appended_heads(a); }
/**
 * Where a head's cache has a position. One that is shorter than the sequence is a ring, of whole pieces, which lie as in a longer one.
 */
INLINE int cache_place(const Attention *a, int position) { return position % a->capacity; }
/** Rows of queries of one sequence and head of keys: for each token the heads that share it. */
INLINE int query_rows(const Attention *a) { return a->length * (a->heads / a->kv_heads); }
/** Rows of all blocks of one sequence and head of keys. */
INLINE int whole_rows(const Attention *a) { return (int)round_up((size_t)query_rows(a), QUERY_ROWS); }
/** Rows of a block that has so many in use: 1, 2, 4 or 8; with an int8 cache also 3, which is a common number of heads to share keys. */
INLINE int block_rows(CacheType type, int rows) { return rows > 4 ? 8 : rows == 3 && type != CACHE_INT8 ? 4 : rows; }
/** Where functions for 1, 2, 3, 4 and 8 rows stand in a table. */
INLINE int block_index(int rows) { return rows > 4 ? 4 : rows - 1; }
/**
 * Queries of a block of rows. Rows that fill the last block are zero.
 *
 *   float32, float16 caches   values  [head_size][rows]
 *   int8 cache                codes   [channels / 4][rows][4]: in 8 bits behind the Hadamard transform
 *                             scales  [rows]
 *                             shifts  [rows]: -128 * sum of the row's codes, which undoes the 128 that keys carry
 */
typedef struct {
  float *values;
  int8_t *codes;
  float *scales;
  int32_t *shifts;
  int rows;
} QueryBlock;

/** Of one row of queries. */
INLINE size_t query_row_bytes(const Attention *a) {
  return a->type == CACHE_INT8 ? (size_t)cache_channels(a->head_size) + 8 : (size_t)a->head_size * 4;
}
/** Of all rows of one sequence and head of keys. */
INLINE size_t query_bytes(const Attention *a) {
  return (size_t)whole_rows(a) * query_row_bytes(a);
}
INLINE QueryBlock query_block(const Attention *a, int sequence, int head, int block) {
  const size_t pair = (size_t)(sequence * a->kv_heads + head);
  uint8_t *memory = a->queries + query_bytes(a) * pair + (size_t)block * QUERY_ROWS * query_row_bytes(a);
  QueryBlock queries = {.rows = block_rows(a->type, min_int(QUERY_ROWS, query_rows(a) - block * QUERY_ROWS))};
  if (a->type != CACHE_INT8) {
    queries.values = (float *)memory;
  } else {
    queries.scales = (float *)memory;
    queries.shifts = (int32_t *)memory + queries.rows;
    queries.codes = (int8_t *)(memory + 8 * queries.rows);
  }
  return queries;
}
/** Bytes that `attend_rows` works in. */
INLINE size_t item_bytes(const Attention *a) {
  return ((size_t)(ITEM_ROWS + QUERY_ROWS) * (cache_channels(a->head_size) + 2)) * 4;
}
