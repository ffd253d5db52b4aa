// AVX-512 VNNI.
#include "tile-wide.h"
#define ISA avx512
#include "floats.inc.h"
#include "product-tiles.h"

const Isa isa_avx512 = {.name = "avx512", .multiply_tile = multiply_tile, .floats = &floats_avx512};
