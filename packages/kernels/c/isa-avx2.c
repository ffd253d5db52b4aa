// AVX2.
#include "tile-narrow.h"
#define ISA avx2
#include "floats.inc.h"
#include "product-tiles.h"

const Isa isa_avx2 = {.name = "avx2", .multiply_tile = multiply_tile, .floats = &floats_avx2};
