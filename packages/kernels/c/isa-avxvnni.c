// AVX-VNNI: the integer products. All else is that of AVX2.
#include "tile-narrow.h"
#include "product-tiles.h"
#include "attend-int8.h"

const Isa isa_avxvnni = {.name = "avxvnni", .multiply_tile = multiply_tile, .int8 = &INT8_FUNCTIONS, .floats = &floats_avx2};
