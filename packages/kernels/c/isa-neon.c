// NEON with dot products.
#include "tile-narrow.h"
#define ISA neon
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

const Isa isa_neon = {.name = "neon", .multiply_tile = multiply_tile, .int8 = &INT8_FUNCTIONS, .floats = &floats_neon};
