// What is compiled once for each instruction set.
#pragma once
#include "attention.h"
#include "experts.h"
#include "convolution.h"
#include "delta.h"
#include "mamba.h"
#include "product.h"
#include "work.h"

/** One tile of weights times all rows of a panel. Shape: `out` is [rows, TILE]. */
typedef void (*MultiplyTile)(Format, const uint8_t *tile, int blocks, const Panel *, float (*out)[TILE]);

/** Functions without integer products, which instruction sets that differ in nothing else share. */
typedef struct {
  /** `index`: of so many as `fill_total` says. */
  void (*fill_rows)(const Product *, int index);
  /** As `Isa.multiply`, with a function for each tile. */
  void (*multiply_tiles)(const Product *, MultiplyTile, int from, int to);
  void (*route_row)(const Experts *, int row);
  void (*combine_row)(const Experts *, int row);
  void (*read_row)(Format, const uint8_t *tiles, int inputs, int64_t row, float *out);
  void (*prepare_token)(const Attention *, int token);
  void (*attend_piece)(const Attention *, int sequence, int head, int piece);
  void (*attend_rows)(const Attention *, int sequence, int head, int first_row, int row_count, uint8_t *memory);
  void (*merge_pieces)(const Attention *, int sequence, int head);
  void (*convolve)(const Convolution *, int sequence, int channel);
  void (*prepare_delta)(const Delta *, int token);
  void (*recur_delta)(const Delta *, int sequence, int head, int item);
  void (*gate_delta)(const Delta *, int token);
  void (*prepare_mamba)(const Mamba *, int token);
  void (*scan_mamba)(const Mamba *, int sequence, int head, int item);
  void (*gate_mamba)(const Mamba *, int token);
} FloatFunctions;

typedef struct Isa {
  const char *name;
  /** Tiles `from` to `to` of a product. */
  void (*multiply)(const Product *, int from, int to);
  MultiplyTile multiply_tile;
  /** Attention over an int8 cache. */
  const CacheFunctions *int8;
  const FloatFunctions *floats;
} Isa;

extern const Isa isa_amx, isa_avx512, isa_avxvnni, isa_avx2, isa_neon, isa_plain;
extern const CacheFunctions int8_avx512, int8_avxvnni, int8_avx2, int8_neon, int8_plain;
extern const FloatFunctions floats_avx512, floats_avx2, floats_neon, floats_plain;

enum { MAX_ISAS = 4 };
/** Those of this CPU, the best first; null behind the last one. */
const Isa *get_isa(int index);
