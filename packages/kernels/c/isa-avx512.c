// AVX-512 VNNI.
#include "tile-wide.h"
#define ISA avx512
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

static void multiply(const Product *p, int from, int to) { floats_avx512.multiply_tiles(p, multiply_tile, from, to); }

const Isa isa_avx512 = {.name = "avx512", .multiply = multiply, .multiply_tile = multiply_tile, .int8 = &int8_avx512, .floats = &floats_avx512};
