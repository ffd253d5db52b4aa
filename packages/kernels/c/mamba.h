// Mamba-2: a selective state space, linear attention whose state forgets by a factor that depends on the token.
// Source: "Transformers are SSMs", arXiv 2405.21060
//
//   S     [state_size, head_size], for each head; heads share B and C in groups
//   step  = softplus(step_bias + dt), within its limits
//   S     = exp(-exp(decay_log) * step) * S + B (x) (step * x)
//   y     = S^T C + skip * x
//   out   = y with its gate silu(z) and, for each group of the norm, an RMS norm in front of the gate or behind it
//
// A token follows the other, in one order of every sum, so that chunks and batches do not change a bit. Columns of a state do not
// depend on each other: a work item takes some of them through all tokens, in the nearest cache.
#pragma once
#include "states.h"
#include "vector.h"

enum {
  MAX_STATE_SIZE = 256,
  /** Vectors of columns of a work item, where a head has whole ones. */
  MAMBA_VECTORS = 2,
};

typedef enum { NORM_NONE, NORM_BEFORE_GATE, NORM_BEHIND_GATE } NormPlace;

typedef struct {
  States states;
  /** Sizes in whole vectors. */
  int heads, head_size, groups, state_size;
  /** x [heads, head_size], B [groups, state_size], C [groups, state_size]. Shape: [batch, length, ..]. */
  const float *xbc;
  /** Shape: [batch, length, heads]. */
  const float *dt;
  /** Shape: [heads]. */
  const float *decay_log, *step_bias, *skip;
  float least_step, most_step;
  /** Rows of `z_columns`, with [heads, head_size] from `z_start` on. */
  const float *z;
  int z_columns, z_start;
  NormPlace norm_place;
  /** Of the norm, each of whole vectors. */
  int norm_groups;
  /** Null without a norm, or shape: [heads, head_size]. */
  const float *norm;
  float epsilon;
  /** Shape: [batch, length, heads, head_size]. */
  float *out;

  /** Shape: [batch, length, heads]. */
  float *decays, *steps;
} Mamba;

INLINE int mamba_vectors(const Mamba *m) { return m->head_size % (MAMBA_VECTORS * LANES) ? 1 : MAMBA_VECTORS; }
/** Work items of a head. */
INLINE int mamba_items(const Mamba *m) { return m->head_size / (mamba_vectors(m) * LANES); }
INLINE size_t mamba_width(const Mamba *m) { return (size_t)m->heads * m->head_size; }
INLINE size_t mamba_columns(const Mamba *m) { return mamba_width(m) + (size_t)2 * m->groups * m->state_size; }
