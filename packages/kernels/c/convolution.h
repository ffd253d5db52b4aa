// Causal convolution of each channel with its last inputs: the short convolutions of LFM2, and those in front of linear attention.
//
//   value   v[t] = x[t], gated: B[t] * x[t]
//   result  y[t] = bias + w[0] * v[t - kernel + 1] + ... + w[kernel - 1] * v[t], in this order; SiLU of it, gated: C[t] times it
//   state   the last kernel - 1 values, the oldest first: [kernel - 1, channels]
#pragma once
#include "states.h"

enum {
  MAX_KERNEL = 8,
  /** Channels of a work item. */
  ITEM_CHANNELS = 64,
};

typedef struct {
  States states;
  /** Whole vectors of channels. */
  int channels, kernel;
  /** Whether x has B, C and x, of all channels each, one behind the other. */
  int is_gated;
  int has_silu;
  /** Of x, at least `channels`, gated three times as many; others are not read. */
  int columns;
  /** Shape: [batch, length, columns]. */
  const float *x;
  /** Shape: [kernel, channels]. */
  const float *weights;
  /** Null, or shape: [channels]. */
  const float *bias;
  /** Shape: [batch, length, channels]. */
  float *out;
} Convolution;
