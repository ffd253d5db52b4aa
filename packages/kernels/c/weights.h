// Weight matrices in tiles of 16 outputs, in the order in which a product reads them.
//
// A matrix [outputs, inputs] is a sequence of tiles; a tile holds 16 outputs, in blocks of 32 inputs:
//
//   4 bits   256 bytes   group g of 64 bytes: byte 4n+i has input 8g+i of output n in its low half, input 8g+4+i in its high half
//   5 bits   + 64 bytes  bit j of byte 4n+i: the fifth bit of input 4j+i of output n
//   6 bits   + 128 bytes bits 2(j%4), 2(j%4)+1 of byte 64(j/4)+4n+i: the fifth and sixth bit of input 4j+i of output n
//   8 bits   512 bytes   group g of 64 bytes: byte 4n+i has input 4g+i of output n, plus 128
//   then     32 bytes    16 scales in float16
//            32 bytes    16 minimums in float16, in formats with a minimum
//
//   value = scale * (code - offset)    offset 8, 16, 32, 128 with 4, 5, 6, 8 bits
//   value = scale * code + minimum     in formats with a minimum
//
// In float32 a block has 2,048 bytes: for each input the 16 outputs.
// Outputs and inputs behind the last one are zero. `packages/kernels/src/tiles.ts` writes this layout.
#pragma once
#include "vector.h"

enum { TILE = LANES, BLOCK = 32, QUADS = BLOCK / 4 };

/** Numbers that graphs carry as an attribute; only to be extended. */
typedef enum {
  FORMAT_F32 = 0,
  FORMAT_Q4 = 1,
  FORMAT_Q4_MIN = 2,
  FORMAT_Q5 = 3,
  FORMAT_Q5_MIN = 4,
  FORMAT_Q6 = 5,
  FORMAT_Q8 = 6,
  FORMAT_COUNT = 7,
} Format;

INLINE int format_bits(Format format) {
  switch (format) {
    case FORMAT_Q4: case FORMAT_Q4_MIN: return 4;
    case FORMAT_Q5: case FORMAT_Q5_MIN: return 5;
    case FORMAT_Q6: return 6;
    case FORMAT_Q8: return 8;
    default: return 32;
  }
}
INLINE int format_has_minimum(Format format) { return format == FORMAT_Q4_MIN || format == FORMAT_Q5_MIN; }
/** Bytes of the codes of a block. */
INLINE size_t code_bytes(Format format) { return (size_t)TILE * BLOCK * format_bits(format) / 8; }
INLINE size_t block_bytes(Format format) {
  if (format == FORMAT_F32) return code_bytes(format);
  return code_bytes(format) + 2 * TILE * (format_has_minimum(format) ? 2 : 1);
}
INLINE int block_count(int inputs) { return (inputs + BLOCK - 1) / BLOCK; }
INLINE int tile_count(int outputs) { return (outputs + TILE - 1) / TILE; }
INLINE size_t tile_bytes(Format format, int inputs) { return block_bytes(format) * block_count(inputs); }
INLINE size_t matrix_bytes(Format format, int inputs, int outputs) { return tile_bytes(format, inputs) * tile_count(outputs); }
