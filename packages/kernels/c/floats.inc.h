// The functions without integer products, compiled once for each instruction set that has floats of its own.
// The including file has defined ISA, the end of the table's name.
#include "attend.h"
#include "convolve.h"
#include "embedding.h"
#include "fill-panel.h"
#include "finish-rows.h"
#include "isa.h"
#include "route.h"
#include "recur.h"
#include "scan.h"

#define FLOATS_NAME(isa) floats_##isa
#define FLOATS(isa) FLOATS_NAME(isa)

const FloatFunctions FLOATS(ISA) = {
    .fill_rows = fill_rows,
    .multiply_tiles = multiply_tiles,
    .route_row = route_row,
    .combine_row = combine_row,
    .read_row = read_row,
    .prepare_token = prepare_token,
    .attend_piece = attend_piece,
    .attend_rows = attend_rows,
    .merge_pieces = merge_pieces,
    .convolve = convolve,
    .prepare_delta = prepare_delta,
    .recur_delta = recur_delta,
    .gate_delta = gate_delta,
    .prepare_mamba = prepare_mamba,
    .scan_mamba = scan_mamba,
    .gate_mamba = gate_mamba,
};
