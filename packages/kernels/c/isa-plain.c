// The definition, in plain C, which tests compare instruction sets with. No prebuilt library has it.
#include "tile-narrow.h"
#define ISA plain
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

static void multiply(const Product *p, int from, int to) { floats_plain.multiply_tiles(p, multiply_tile, from, to); }

const Isa isa_plain = {.name = "plain", .multiply = multiply, .multiply_tile = multiply_tile, .int8 = &int8_plain, .floats = &floats_plain};
