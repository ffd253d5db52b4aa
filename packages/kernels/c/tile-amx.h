// A tile of weights times 16 rows of a panel, once or twice, with AMX. Its matrix unit multiplies the codes of some blocks; then vectors
// scale the sums. The two take turns because one of the two ports of 512-bit vectors serves the matrix unit while it has work.
#pragma once
#include "tile-wide.h"

enum {
  AMX_ROWS = 16,
  /** Blocks whose sums are computed before they are scaled. Codes, sums and rows take a third of the nearest cache, which other threads may share. */
  AMX_BLOCKS = SUPER_BLOCK,
};

/** Codes of a block, and products with them. */
typedef struct { _Alignas(64) int8_t groups[QUADS][4 * TILE]; } Codes;
typedef struct { _Alignas(64) int32_t rows[AMX_ROWS][TILE]; } Sums;

/** Registers of the matrix unit. Blocks take turns between two of each. */
enum { SUMS_A = 0, SUMS_B = 1, ROWS_A = 2, ROWS_B = 3, CODES_A = 4, CODES_B = 5 };

typedef struct {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} RegisterShapes;

static const _Alignas(64) RegisterShapes REGISTER_SHAPES = {
    .palette = 1,
    .row_bytes = {4 * TILE, 4 * TILE, BLOCK, BLOCK, 4 * TILE, 4 * TILE},
    .rows = {AMX_ROWS, AMX_ROWS, AMX_ROWS, AMX_ROWS, QUADS, QUADS},
};

/** Writes the codes of a block; those of 6 and 8 bits get their sign. */
INLINE void write_codes(Format format, const uint8_t *block, Codes *out) {
  __m512i w[QUADS];
  unpack_block(format, block, w);
#pragma unroll
  for (int g = 0; g < QUADS; g++) {
    if (format_bits(format) == 6) w[g] = _mm512_sub_epi8(w[g], _mm512_set1_epi8(32));
    if (format_bits(format) == 8) w[g] = _mm512_xor_si512(w[g], _mm512_set1_epi8(-128));
    _mm512_store_si512(out->groups[g], w[g]);
  }
}

/** Sums of `count` blocks for 16 rows. `step`: from a block of the rows to the next. */
static void multiply_codes(const Codes *codes, int count, const int8_t *rows, size_t step, Sums *sums) {
#define MULTIPLY(b, turn) \
  do { \
    _tile_loadd(CODES_##turn, codes[b].groups, 4 * TILE); \
    _tile_loadd(ROWS_##turn, rows + (size_t)(b) * step, BLOCK); \
    _tile_zero(SUMS_##turn); \
    _tile_dpbssd(SUMS_##turn, ROWS_##turn, CODES_##turn); \
  } while (0)
#define STORE(b, turn) _tile_stored(SUMS_##turn, sums[b].rows, 4 * TILE)
  // Sums are stored behind the next product, which does not wait for them.
  MULTIPLY(0, A);
  int b = 0;
  for (; b + 2 < count; b += 2) {
    MULTIPLY(b + 1, B);
    STORE(b, A);
    MULTIPLY(b + 2, A);
    STORE(b + 1, B);
  }
  if (b + 1 < count) MULTIPLY(b + 1, B);
  STORE(b, A);
  if (b + 1 < count) STORE(b + 1, B);
#undef MULTIPLY
#undef STORE
}

/** What `scale_sums` reads: blocks of weights, `step` from one to the next, and rows of a panel, `width` from a block to the next. */
typedef struct {
  const uint8_t *weights, *factors;
  size_t step;
  const float *scales, *sums;
  int count, width;
} Blocks;

/** Adds the sums of blocks for 16 rows, times their scales, to `out`. The arithmetic is that of `tile_quantised`. */
INLINE void scale_sums(Format format, Scaling scaling, const Blocks *blocks, const Sums *sums, int is_first, float (*out)[TILE]) {
  const int bits = format_bits(format);
  v16f f[AMX_ROWS];
#pragma unroll
  for (int r = 0; r < AMX_ROWS; r++) f[r] = is_first ? splat(0) : load(out[r]);
#pragma clang loop unroll(disable)
  for (int b = 0; b < blocks->count; b++) {
    const float *row_scales = blocks->scales + b * blocks->width, *row_sums = blocks->sums + b * blocks->width;
    v16f scale, minimum;
    read_scales(bits, scaling, blocks->weights + b * blocks->step + code_bytes(format), blocks->factors, 0, &scale, &minimum);
#pragma unroll
    for (int r = 0; r < AMX_ROWS; r++)
      f[r] = fma16(__builtin_convertvector(*(const v16i *)sums[b].rows[r], v16f), scale * row_scales[r], f[r]);
    if (bits < 6) {
#pragma unroll
      for (int r = 0; r < AMX_ROWS; r++) f[r] = fma16(minimum, splat(row_sums[r]), f[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < AMX_ROWS; r++) store(out[r], f[r]);
}

/** All rows of a panel, in sets of 16. The format's bits are a constant where this is called; blocks have one scale for each output. */
INLINE void tile_amx(Format format, Scaling scaling, const uint8_t *tile, int block_total, const Panel *panel, float (*out)[TILE]) {
  Codes codes[AMX_BLOCKS];
  Sums sums[AMX_BLOCKS];
  Blocks blocks = {.weights = tile, .factors = tile, .width = panel->rows};
  blocks.step = code_bytes(format) + (scaling == SCALES_AND_MINIMUMS ? 4 : 2) * TILE;
  for (int from = 0; from < block_total; from += AMX_BLOCKS, blocks.weights += AMX_BLOCKS * blocks.step) {
    blocks.count = min_int(AMX_BLOCKS, block_total - from);
    if (format_bits(format) < 6 && any_scaling(scaling) == SCALES_OF_SUPER_BLOCKS) {
      blocks.factors = blocks.weights;
      blocks.weights += factor_bytes(format_bits(format));
    }
    for (int b = 0; b < blocks.count; b++) {
      const uint8_t *block = blocks.weights + b * blocks.step;
      for (size_t i = 0; i < blocks.step; i += 64) _mm_prefetch((const char *)block + 4096 + i, _MM_HINT_T0);
      write_codes(format, block, &codes[b]);
    }
    for (int row = 0; row < panel->rows; row += AMX_ROWS) {
      const size_t at = (size_t)from * panel->rows + row;
      multiply_codes(codes, blocks.count, panel->codes + BLOCK * at, (size_t)BLOCK * panel->rows, sums);
      blocks.scales = panel->scales + at;
      blocks.sums = panel->sums + at;
      scale_sums(format, scaling, &blocks, sums, from == 0, out + row);
    }
  }
}
