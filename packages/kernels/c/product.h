// A matrix product of rows of activations with tiles of weights, and what is fused into it.
//
//   x' = x, or its RMS norm             y = x' W^T + bias
//   gated: y = activation(gate) * up    out = y + residual
//
// With groups the matrix is a diagonal of blocks: group g of the outputs reads group g of the inputs only, as heads do.
#pragma once
#include "panel.h"

/**
 * `ACTIVATION_CLAMPED` is for gates: with g = min(gate, limit) and u = up between -limit and limit it gives
 * g * sigmoid(1.702 g) * (u + 1). `ACTIVATION_RELU2` is the square of ReLU.
 */
typedef enum {
  ACTIVATION_NONE = 0,
  ACTIVATION_SILU = 1,
  ACTIVATION_GELU = 2,
  ACTIVATION_CLAMPED = 3,
  ACTIVATION_RELU2 = 4,
  ACTIVATION_COUNT = 5
} Activation;

enum { MAX_PARTS = 3 };

/** A matrix; several of them make the columns of one result, as queries, keys and values do. */
typedef struct {
  const uint8_t *tiles;
  Format format;
  /** Rows of the matrix, without those that fill its last tile; in a gated product gates and ups together. */
  int outputs;
  /** First column of the result. */
  int column;
  /** First tile among those of all parts. */
  int first_tile;
} Part;

typedef struct {
  /** Shape: [rows, inputs]. */
  const float *x;
  /** Null, or which row of x each row is: then x has as many as there are. */
  const int32_t *rows_of_x;
  /** Inputs of an output: with groups those of one group. */
  int rows, inputs, blocks;
  /** 0: none. Else a row of x has `groups * group_step` numbers, of which group g reads `inputs` behind `g * group_step + group_start`. */
  int groups, group_step, group_start;
  /** Null, or the weight of the norm. Shape: [inputs]. */
  const float *norm;
  float epsilon;
  Part parts[MAX_PARTS];
  int part_count;
  /** Tiles of all parts; in a gated product pairs of tiles. */
  int tiles;
  Activation activation;
  /** Of `ACTIVATION_CLAMPED`. */
  float limit;
  /** The one part has a tile of gates and a tile of ups in turns, and the result their count halved. */
  int is_gated;
  /** Null, or shape: [columns]; in a gated product [2 * columns], gates first. */
  const float *bias;
  /** Null, or shape: [rows, columns]. */
  const float *residual;
  /** Shape: [rows, columns]. */
  float *out;
  int columns;
  /** Panels of activations, `panel_step` from one to the next. */
  uint8_t *panels;
  int is_quantised;
  /** Rows of a panel for each row of activations: 2 where a row is its 8 bits and 8 more bits of what they leave over, else 1. */
  int splits;
} Product;

/** Rows of activations that a whole panel holds. */
INLINE int rows_per_panel(const Product *p) { return PANEL_ROWS / p->splits; }
/** Panels of all rows; with groups those of one group. */
INLINE int row_panels(const Product *p) { return (p->rows + rows_per_panel(p) - 1) / rows_per_panel(p); }
/** The panels of a group stand together. */
INLINE int panel_total(const Product *p) { return row_panels(p) * max_int(1, p->groups); }
/** Numbers from a row of x to the next. */
INLINE size_t row_step(const Product *p) { return p->groups ? (size_t)p->groups * p->group_step : (size_t)p->inputs; }
/** Rows that are written into a panel together, and how often that is done; with groups for each of them. */
INLINE int rows_per_fill(const Product *p) { return FEW_ROWS / p->splits; }
INLINE int row_fills(const Product *p) { return (p->rows + rows_per_fill(p) - 1) / rows_per_fill(p); }
INLINE int fill_total(const Product *p) { return row_fills(p) * max_int(1, p->groups); }
INLINE size_t panel_step(const Product *p) {
  return panel_bytes(p->is_quantised, p->blocks, panel_rows(min_int(p->rows, rows_per_panel(p)) * p->splits));
}
INLINE size_t panels_bytes(const Product *p) { return (size_t)panel_total(p) * panel_step(p); }
INLINE int rows_in_panel(const Product *p, int panel) { return min_int(rows_per_panel(p), p->rows - panel % row_panels(p) * rows_per_panel(p)); }
INLINE Panel get_panel(const Product *p, int panel) {
  return panel_at(p->panels + panel_step(p) * panel, p->is_quantised, p->blocks, panel_rows(rows_in_panel(p, panel) * p->splits));
}
