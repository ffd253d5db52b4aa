// AVX-VNNI: the integer products. All else is that of AVX2.
#include "tile-narrow.h"
#define ISA avxvnni
#include "product-tiles.h"
#include "attend-int8.h"

static void multiply(const Product *p, int from, int to) { floats_avx2.multiply_tiles(p, multiply_tile, from, to); }

const Isa isa_avxvnni = {.name = "avxvnni", .multiply = multiply, .multiply_tile = multiply_tile, .int8 = &int8_avxvnni, .floats = &floats_avx2};
