// Tiles of weights times panels of rows, for all formats. Included once for each instruction set, behind its `tile_quantised`.
#pragma once
#include "isa.h"

/** Float32 weights: for each input 16 outputs. */
INLINE void tile_float(const uint8_t *tile, int blocks, const Panel *panel, int first, float (*out)[TILE], const int ROWS) {
  const float *w = (const float *)tile, *x = panel->values + first;
  const int width = panel->rows;
  v16f f[TILE_ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) f[r] = splat(0);
  for (int i = 0; i < blocks * BLOCK; i++, w += TILE, x += width) {
    const v16f weights = load(w);
#pragma unroll
    for (int r = 0; r < ROWS; r++) f[r] = fma16(weights, splat(x[r]), f[r]);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) store(out[r], f[r]);
}

// A function for each number of bits and of rows, with both as constants. Formats that differ in their scaling share it.
#define HEIGHT(format, rows) \
  static void tile_##format##_##rows(Scaling scaling, const uint8_t *tile, int blocks, const Panel *panel, int first, float (*out)[TILE]) { \
    if (rows > TILE_ROWS) return; \
    if (FORMAT_##format == FORMAT_F32) tile_float(tile, blocks, panel, first, out, rows); \
    else tile_quantised(FORMAT_##format, scaling, tile, blocks, panel, first, out, rows); \
  }
/** Two rows, one after the other where a tile takes several instructions for each row: a function less, and little slower. */
#define PAIR(format) \
  static void tile_##format##_2(Scaling scaling, const uint8_t *tile, int blocks, const Panel *panel, int first, float (*out)[TILE]) { \
    if (TILE_ROWS == FEW_ROWS) tile_quantised(FORMAT_##format, scaling, tile, blocks, panel, first, out, 2); \
    else for (int r = 0; r < 2; r++) tile_##format##_1(scaling, tile, blocks, panel, first + r, out + r); \
  }
HEIGHT(F32, 1) HEIGHT(F32, 2) HEIGHT(F32, 4) HEIGHT(F32, 8)
HEIGHT(Q4, 1) HEIGHT(Q4, 2) HEIGHT(Q4, 4) HEIGHT(Q4, 8)
HEIGHT(Q5, 1) PAIR(Q5) HEIGHT(Q5, 4) HEIGHT(Q5, 8)
HEIGHT(Q6, 1) PAIR(Q6) HEIGHT(Q6, 4) HEIGHT(Q6, 8)
HEIGHT(Q8, 1) PAIR(Q8) HEIGHT(Q8, 4) HEIGHT(Q8, 8)

typedef void (*TileFunction)(Scaling scaling, const uint8_t *tile, int blocks, const Panel *panel, int first, float (*out)[TILE]);
#define FUNCTIONS_OF(format) {tile_##format##_1, tile_##format##_2, tile_##format##_4, tile_##format##_8}
/** For 1, 2, 4 and 8 rows. */
static const TileFunction TILE_FUNCTIONS[FORMAT_COUNT][4] = {
    [FORMAT_F32] = FUNCTIONS_OF(F32),
    [FORMAT_Q4] = FUNCTIONS_OF(Q4),
    [FORMAT_Q4_MIN] = FUNCTIONS_OF(Q4),
    [FORMAT_Q5] = FUNCTIONS_OF(Q5),
    [FORMAT_Q5_MIN] = FUNCTIONS_OF(Q5),
    [FORMAT_Q6] = FUNCTIONS_OF(Q6),
    [FORMAT_Q8] = FUNCTIONS_OF(Q8),
    [FORMAT_Q4_K] = FUNCTIONS_OF(Q4),
    [FORMAT_Q5_K] = FUNCTIONS_OF(Q5),
    [FORMAT_Q6_K] = FUNCTIONS_OF(Q6),
};

/** One tile times all rows of a panel, as many at a time as fit the registers. */
static void multiply_tile(Format format, const uint8_t *tile, int blocks, const Panel *panel, float (*out)[TILE]) {
  const int rows = min_int(panel->rows, TILE_ROWS);
  const TileFunction function = TILE_FUNCTIONS[format][rows_index(rows)];
  for (int first = 0; first < panel->rows; first += rows)
    function(format_scaling(format), tile, blocks, panel, first, out + first);
}
