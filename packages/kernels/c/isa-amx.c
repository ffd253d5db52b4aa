// AMX: products of 16 rows and more. All else is that of AVX-512.
#include "tile-amx.h"
#include "isa.h"

static void multiply_tile(Format format, const uint8_t *tile, int blocks, const Panel *panel, float (*out)[TILE]) {
  const Scaling scaling = format_scaling(format);
  // Halves of a block with scales of their own would take two products of each block, and be no faster.
  const int is_suitable = format != FORMAT_F32 && format != FORMAT_Q6_K;
  if (panel->rows % AMX_ROWS || !is_suitable) isa_avx512.multiply_tile(format, tile, blocks, panel, out);
  else if (format_bits(format) == 4) tile_amx(FORMAT_Q4, scaling, tile, blocks, panel, out);
  else if (format_bits(format) == 5) tile_amx(FORMAT_Q5, scaling, tile, blocks, panel, out);
  else if (format_bits(format) == 6) tile_amx(FORMAT_Q6, scaling, tile, blocks, panel, out);
  else tile_amx(FORMAT_Q8, scaling, tile, blocks, panel, out);
}

/** The matrix unit has its shapes only while it is used: a switch of threads would save its registers. */
static void multiply(const Product *p, int from, int to) {
  if (p->rows * p->splits < AMX_ROWS) {
    isa_avx512.multiply(p, from, to);
    return;
  }
  _tile_loadconfig(&REGISTER_SHAPES);
  floats_avx512.multiply_tiles(p, multiply_tile, from, to);
  _tile_release();
}

const Isa isa_amx = {.name = "amx", .multiply = multiply, .multiply_tile = multiply_tile, .int8 = &int8_avx512, .floats = &floats_avx512};
