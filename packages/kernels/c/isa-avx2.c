// AVX2.
#include "tile-narrow.h"
#define ISA avx2
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

const Isa isa_avx2 = {.name = "avx2", .multiply_tile = multiply_tile, .int8 = &INT8_FUNCTIONS, .floats = &floats_avx2};
