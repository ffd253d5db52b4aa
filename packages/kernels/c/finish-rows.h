// A product: each tile of weights, while it is in the nearest cache, times all panels; then bias, activation and residual.
#pragma once
#include "isa.h"

/** NaN stays. */
INLINE v16f square_of_relu(v16f x) {
  const v16f positive = choose(x < 0.0f, splat(0), x);
  return positive * positive;
}

INLINE v16f activate(Activation activation, v16f x) {
  switch (activation) {
    case ACTIVATION_SILU: return silu16(x);
    case ACTIVATION_GELU: return gelu16(x);
    case ACTIVATION_RELU2: return square_of_relu(x);
    default: return x;
  }
}

/** Source: transformers, models/gpt_oss/modeling_gpt_oss.py, whose factor this is. */
INLINE v16f clamped_gate(v16f gate, v16f up, float limit) {
  const v16f g = choose(gate < limit, gate, splat(limit)), u = choose(up < limit, up, splat(limit));
  return g / (exp16(-1.702f * g) + 1.0f) * (choose(u > -limit, u, splat(-limit)) + 1.0f);
}

INLINE v16f sum_splits(const Product *p, float (*y)[TILE], int row) {
  return p->splits == 1 ? load(y[row]) : load(y[2 * row]) + load(y[2 * row + 1]);
}

/** Bias, activation of the gate, residual. Writes the first `count` outputs of each row. */
INLINE void finish_rows(const Product *p, int first_row, int rows, int column, int count, float (*y)[TILE], float (*up)[TILE]) {
  for (int r = 0; r < rows; r++) {
    const size_t at = (size_t)(first_row + r) * p->columns + column;
    v16f v = sum_splits(p, y, r);
    if (p->bias) v = v + load_inputs(p->bias, column, column + count);
    if (up) {
      v16f u = sum_splits(p, up, r);
      if (p->bias) u = u + load_inputs(p->bias + p->columns, column, column + count);
      v = p->activation == ACTIVATION_CLAMPED ? clamped_gate(v, u, p->limit) : activate(p->activation, v) * u;
    } else {
      v = activate(p->activation, v);
    }
    if (p->residual) v = v + load_inputs(p->residual + at, 0, count);
    if (count == TILE) {
      store(p->out + at, v);
    } else {
      float values[TILE];
      store(values, v);
      for (int i = 0; i < count; i++) p->out[at + i] = values[i];
    }
  }
}

static void multiply_tiles(const Product *p, MultiplyTile multiply_tile, int from, int to) {
  const int panels = row_panels(p), group_tiles = p->tiles / max_int(1, p->groups);
  int index = 0;
  for (int t = from; t < to; t++) {
    while (index + 1 < p->part_count && t >= p->parts[index + 1].first_tile) index++;
    const Part *part = &p->parts[index];
    const int is_gated = p->is_gated, local = t - part->first_tile, outputs = is_gated ? part->outputs / 2 : part->outputs;
    const size_t bytes = tile_bytes(part->format, p->inputs);
    const uint8_t *tile = part->tiles + bytes * local * (is_gated ? 2 : 1);
    const int count = min_int(TILE, outputs - local * TILE);
    const int first = p->groups ? t / group_tiles * panels : 0;
    for (int i = 0; i < panels; i++) {
      const Panel panel = get_panel(p, first + i);
      _Alignas(64) float y[PANEL_ROWS][TILE], up[PANEL_ROWS][TILE];
      multiply_tile(part->format, tile, p->blocks, &panel, y);
      if (is_gated) multiply_tile(part->format, tile + bytes, p->blocks, &panel, up);
      finish_rows(p, i * rows_per_panel(p), rows_in_panel(p, i), part->column + local * TILE, count, y, is_gated ? up : 0);
    }
  }
}
