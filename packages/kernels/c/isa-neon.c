// NEON with dot products.
#include "tile-narrow.h"
#define ISA neon
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

static void multiply(const Product *p, int from, int to) { floats_neon.multiply_tiles(p, multiply_tile, from, to); }

const Isa isa_neon = {.name = "neon", .multiply = multiply, .multiply_tile = multiply_tile, .int8 = &int8_neon, .floats = &floats_neon};
