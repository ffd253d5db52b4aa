// Gated DeltaNet: linear attention whose state forgets by a factor and corrects what it holds under a key.
// Source: "Gated Delta Networks: Improving Mamba2 with Delta Rule", arXiv 2412.06464
//
//   S     [key_size, value_size], for each head of values; heads of values share those of queries and keys
//   S     = decay * S + k (x) u,   u = beta * (v - decay * S^T k)
//   y     = S^T q = decay * S'^T q + (k . q) * u, with S' the state before: both products of a token read the state once
//   decay = exp(-exp(decay_log) * softplus(decay_bias + a)),   beta = sigmoid(b);   q and k have length 1, q is scaled
//   out   = rms_norm(y) * silu(z), for each head
//
// A token follows the other, in one order of every sum, so that chunks and batches do not change a bit. Columns of a state do not
// depend on each other: a work item takes some of them through all tokens, in the nearest cache.
#pragma once
#include "states.h"
#include "vector.h"

enum {
  MAX_KEY_SIZE = 256,
  /** Vectors of columns of a work item, where the size of values has whole ones. */
  ITEM_VECTORS = 2,
};

typedef struct {
  States states;
  /** Sizes in whole vectors. */
  int key_heads, value_heads, key_size, value_size;
  /** Heads of values take the heads of keys in turns; else neighbours have the same. */
  int keys_in_turns;
  /** Queries and keys [key_heads, key_size], then values [value_heads, value_size]. Shape: [batch, length, ..]. */
  const float *qkv;
  /** b, then a. Shape: [batch, length, 2 * value_heads]. */
  const float *gates;
  /** Shape: [value_heads]. */
  const float *decay_log, *decay_bias;
  /** Rows of `z_columns`, with [value_heads, value_size] from `z_start` on. */
  const float *z;
  int z_columns, z_start;
  /** Shape: [value_size]. */
  const float *norm;
  float epsilon;
  /** Shape: [batch, length, value_heads, value_size]. */
  float *out;

  /** Normalised queries and keys. Shape: [batch, length, key_heads, key_size]. */
  float *queries, *keys;
  /** k . q. Shape: [batch, length, key_heads]. */
  float *products;
  /** Shape: [batch, length, value_heads]. */
  float *decays, *betas;
} Delta;

INLINE int delta_vectors(const Delta *d) { return d->value_size % (ITEM_VECTORS * LANES) ? 1 : ITEM_VECTORS; }
/** Work items of a head of values. */
INLINE int delta_items(const Delta *d) { return d->value_size / (delta_vectors(d) * LANES); }
INLINE size_t delta_columns(const Delta *d) { return (size_t)2 * d->key_heads * d->key_size + (size_t)d->value_heads * d->value_size; }
/** Floats of working memory of a token. */
INLINE size_t delta_token_floats(const Delta *d) {
  return (size_t)2 * d->key_heads * d->key_size + d->key_heads + (size_t)2 * d->value_heads;
}
