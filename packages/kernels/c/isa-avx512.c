// AVX-512 VNNI.
#include "tile-wide.h"
#define ISA avx512
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

const Isa isa_avx512 = {.name = "avx512", .multiply_tile = multiply_tile, .int8 = &INT8_FUNCTIONS, .floats = &floats_avx512};
