// Rows of activations as a product reads them: panels of 1, 2, 4, 8, 16, 24 or 32 rows, block by block.
//
//   quantised  codes   [blocks][rows][32]  int8
//              scales  [blocks][rows]  float32: largest magnitude of the row's block over 127
//              sums    [blocks][rows]  float32: scale * sum of the block's codes
//              shifts  [blocks][rows]  int32: -128 * that sum, which undoes the 128 that weights of 8 bits carry
//              halves  [blocks][2][rows]  int32: -32 * the sum of codes 0 to 15, and of the others, for weights of 6 bits
//   float32    values  [inputs][rows]
//
// Where activations have 16 bits, two rows of a panel are one row: its numbers rounded to 8 bits, and what that leaves over.
#pragma once
#include "weights.h"

enum {
  PANEL_ROWS = 32,
  /** Rows that are written together, and the most that a function for a tile has. */
  FEW_ROWS = 8,
};

/** Rows of a panel that has so many in use; those behind the last one are zero. */
INLINE int panel_rows(int rows) { return rows > 4 ? (int)round_up((size_t)rows, FEW_ROWS) : rows > 2 ? 4 : rows; }

/** Where functions for 1, 2, 4 and 8 rows stand in a table. */
INLINE int rows_index(int rows) { return rows > 4 ? 3 : rows > 2 ? 2 : rows - 1; }

typedef struct {
  const int8_t *codes;
  const float *scales;
  const float *sums;
  const int32_t *shifts, *halves;
  const float *values;
  /** Those in use and those that fill it up. */
  int rows;
} Panel;

INLINE size_t panel_bytes(int is_quantised, int blocks, int rows) {
  if (!is_quantised) return round_up((size_t)blocks * BLOCK * rows * 4, 64);
  return round_up((size_t)blocks * BLOCK * rows, 64) + 5 * round_up((size_t)blocks * rows * 4, 64);
}

INLINE Panel panel_at(const uint8_t *memory, int is_quantised, int blocks, int rows) {
  size_t codes = round_up((size_t)blocks * BLOCK * rows, 64), scales = round_up((size_t)blocks * rows * 4, 64);
  Panel panel = {.rows = rows};
  if (!is_quantised) {
    panel.values = (const float *)memory;
  } else {
    panel.codes = (const int8_t *)memory;
    panel.scales = (const float *)(memory + codes);
    panel.sums = (const float *)(memory + codes + scales);
    panel.shifts = (const int32_t *)(memory + codes + 2 * scales);
    panel.halves = (const int32_t *)(memory + codes + 3 * scales);
  }
  return panel;
}

/** The last inputs of a row, fewer than 16, and zeros behind them. */
static __attribute__((noinline)) v16f load_last(const float *x, int count) {
  float last[LANES] = {0};
  for (int i = 0; i < count; i++) last[i] = x[i];
  return load(last);
}

/** Sixteen inputs from `from` on; zero behind the last one. */
INLINE v16f load_inputs(const float *x, int from, int count) {
  return from + LANES <= count ? load(x + from) : load_last(x + from, count - from);
}
