// The definition, in plain C, which tests compare instruction sets with. No prebuilt library has it.
#include "tile-narrow.h"
#define ISA plain
#include "floats.inc.h"
#include "product-tiles.h"
#include "attend-int8.h"

const Isa isa_plain = {.name = "plain", .multiply_tile = multiply_tile, .int8 = &INT8_FUNCTIONS, .floats = &floats_plain};
