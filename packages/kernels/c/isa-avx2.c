// AVX2.
#include "tile-narrow.h"
#define ISA avx2
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

static void multiply(const Product *p, int from, int to) { floats_avx2.multiply_tiles(p, multiply_tile, from, to); }

const Isa isa_avx2 = {.name = "avx2", .multiply = multiply, .multiply_tile = multiply_tile, .int8 = &int8_avx2, .floats = &floats_avx2};
