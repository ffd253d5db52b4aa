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
// The formats of K-quants have super-blocks of 8 blocks. Scales of blocks are integers times a float16 of the super-block:
//
//   first    32 bytes    16 factors of scales in float16
//            32 bytes    16 factors of minimums in float16, with 4 and 5 bits
//   8 times  codes       as above
//            16 bytes    16 scales, 0 to 255 with 4 and 5 bits, -128 to 127 with 6 bits, where they are those of inputs 0 to 15
//            16 bytes    16 minimums, 0 to 255, with 4 and 5 bits; 16 scales of inputs 16 to 31 with 6 bits
//
//   value = factor * scale * code - factor of minimums * minimum    with 4 and 5 bits
//   value = factor * scale * (code - 32)                            with 6 bits
//
// In float32 a block has 2,048 bytes: for each input the 16 outputs.
// Outputs and inputs behind the last one are zero. `packages/kernels/src/tiles.ts` writes this layout.
#pragma once
#include "vector.h"

enum { TILE = LANES, BLOCK = 32, QUADS = BLOCK / 4 };
/** Blocks of a super-block. */
enum { SUPER_BLOCK = 8 };

/** Numbers that graphs carry as an attribute; only to be extended. */
typedef enum {
  FORMAT_F32 = 0,
  FORMAT_Q4 = 1,
  FORMAT_Q4_MIN = 2,
  FORMAT_Q5 = 3,
  FORMAT_Q5_MIN = 4,
  FORMAT_Q6 = 5,
  FORMAT_Q8 = 6,
  FORMAT_Q4_K = 7,
  FORMAT_Q5_K = 8,
  FORMAT_Q6_K = 9,
  FORMAT_COUNT = 10,
} Format;

/** Bits of a code, by format. */
static const uint8_t FORMAT_BITS[FORMAT_COUNT] = {32, 4, 4, 5, 5, 6, 8, 4, 5, 6};
INLINE int format_bits(Format format) { return FORMAT_BITS[format]; }

/** What follows the codes of a block. */
typedef enum { SCALES, SCALES_AND_MINIMUMS, SCALES_OF_SUPER_BLOCKS } Scaling;

/** The same value, which the compiler does not know: one loop with branches instead of a loop for each way of scaling. */
INLINE Scaling any_scaling(Scaling scaling) {
  __asm__("" : "+r"(scaling));
  return scaling;
}

INLINE Scaling format_scaling(Format format) {
  if (format >= FORMAT_Q4_K) return SCALES_OF_SUPER_BLOCKS;
  return format == FORMAT_Q4_MIN || format == FORMAT_Q5_MIN ? SCALES_AND_MINIMUMS : SCALES;
}
/** Bytes of the codes of a block. */
INLINE size_t code_bytes(Format format) { return (size_t)TILE * BLOCK * format_bits(format) / 8; }
INLINE size_t block_bytes(Format format) {
  if (format == FORMAT_F32) return code_bytes(format);
  return code_bytes(format) + 2 * TILE * (format_scaling(format) == SCALES_AND_MINIMUMS ? 2 : 1);
}
/** Bytes of the factors of a super-block with codes of so many bits. */
INLINE size_t factor_bytes(int bits) { return 2 * TILE * (bits == 6 ? 1 : 2); }
/** Parts of a block with scales of their own. Codes of 6 bits always have two, of which only those of super-blocks differ. */
INLINE int scaled_parts(int bits) { return bits == 6 ? 2 : 1; }
INLINE int block_count(int inputs) { return (inputs + BLOCK - 1) / BLOCK; }
INLINE int tile_count(int outputs) { return (outputs + TILE - 1) / TILE; }
INLINE size_t tile_bytes(Format format, int inputs) {
  const size_t blocks = (size_t)block_count(inputs), bytes = block_bytes(format) * blocks;
  if (format_scaling(format) != SCALES_OF_SUPER_BLOCKS) return bytes;
  return bytes + factor_bytes(format_bits(format)) * ((blocks + SUPER_BLOCK - 1) / SUPER_BLOCK);
}
INLINE size_t matrix_bytes(Format format, int inputs, int outputs) { return tile_bytes(format, inputs) * tile_count(outputs); }
