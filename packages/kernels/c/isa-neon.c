// NEON with dot products.
#include "tile-narrow.h"
#define ISA neon
#include "floats.inc.h"
#include "product-tiles.h"

const Isa isa_neon = {.name = "neon", .multiply_tile = multiply_tile, .floats = &floats_neon};
