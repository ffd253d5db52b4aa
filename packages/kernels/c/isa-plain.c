// The definition, in plain C, which tests compare instruction sets with. No prebuilt library has it.
#include "tile-narrow.h"
#define ISA plain
#include "floats.inc.h"
#include "product-tiles.h"

const Isa isa_plain = {.name = "plain", .multiply_tile = multiply_tile, .floats = &floats_plain};
