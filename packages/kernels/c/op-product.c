// The operator `Product`: see product.h.
//
//   inputs      x float32 [.., inputs]; weights uint8, one to three matrices in tiles; norm [inputs]; bias; residual [.., columns]
//   attributes  inputs; outputs and formats, one for each matrix; activation; gated; epsilon; activation_bits, 8 or 16 (no
//               effect with float32 matrices); groups (0: none), group_step and group_start: x is then [.., groups * group_step]
//   output      float32 [.., columns]
#include "isa.h"
#include "operators.h"
#include "ort.h"

enum { IN_X, IN_WEIGHTS, IN_NORM = IN_WEIGHTS + MAX_PARTS, IN_BIAS, IN_RESIDUAL, INPUTS };

typedef struct {
  Api api;
  const Isa *isa;
  Product product;
  int has_residual;
} Kernel;

/** Bytes of weights that one work item reads, about: enough to be worth a thread's attention. */
enum { ITEM_BYTES = 48 << 10, MAX_ITEMS = 256 };
/** Numbers of activations from which on panels are filled by several threads. */
enum { SHARED_FILL = 1 << 13 };

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  Product p = {0};
  int64_t outputs[MAX_PARTS], formats[MAX_PARTS];
  const int64_t inputs = int_attribute(api, info, "inputs", 0);
  const int parts = int_attributes(api, info, "outputs", outputs, MAX_PARTS);
  if (inputs < 1 || inputs > 1 << 24) return fail(api, ORT_INVALID_GRAPH, "Product: inputs must be 1 to 2^24.");
  if (parts < 1 || int_attributes(api, info, "formats", formats, MAX_PARTS) != parts)
    return fail(api, ORT_INVALID_GRAPH, "Product: outputs and formats must have 1 to 3 entries, equally many.");
  const int64_t activation = int_attribute(api, info, "activation", 0);
  if (activation < 0 || activation >= ACTIVATION_COUNT || activation == ACTIVATION_CLAMPED) return fail(api, ORT_INVALID_GRAPH, "Product: unknown activation.");
  p.activation = (Activation)activation;
  p.is_gated = int_attribute(api, info, "gated", 0) != 0;
  if (p.is_gated && parts != 1) return fail(api, ORT_INVALID_GRAPH, "Product: a gated product has one matrix.");
  p.inputs = (int)inputs;
  p.blocks = block_count(p.inputs);
  p.part_count = parts;
  p.epsilon = float_attribute(api, info, "epsilon", 1e-5f);
  for (int i = 0; i < parts; i++) {
    Part *part = &p.parts[i];
    if (formats[i] < 0 || formats[i] >= FORMAT_COUNT) return fail(api, ORT_INVALID_GRAPH, "Product: unknown format of weights.");
    if ((formats[i] != FORMAT_F32) != (formats[0] != FORMAT_F32))
      return fail(api, ORT_INVALID_GRAPH, "Product: float32 matrices do not mix with quantised ones.");
    if (outputs[i] < 1 || outputs[i] > 1 << 24 || (p.is_gated && outputs[i] % 2))
      return fail(api, ORT_INVALID_GRAPH, "Product: outputs must be 1 to 2^24, and even where it is gated.");
    part->format = (Format)formats[i];
    part->outputs = (int)outputs[i];
    part->column = p.columns;
    part->first_tile = p.tiles;
    const int columns = p.is_gated ? part->outputs / 2 : part->outputs;
    p.columns += columns;
    p.tiles += tile_count(columns);
    const Tensor weights = constant_input(api, info, IN_WEIGHTS + i);
    const size_t tiles = (size_t)tile_count(columns) * (p.is_gated ? 2 : 1);
    if (!weights.data || (size_t)element_count(&weights) != tiles * tile_bytes(part->format, p.inputs))
      return fail(api, ORT_INVALID_GRAPH, "Product: weights must be a constant of the size that outputs, inputs and format imply.");
    part->tiles = weights.data;
  }
  const int64_t groups = int_attribute(api, info, "groups", 0), step = int_attribute(api, info, "group_step", inputs);
  const int64_t start = int_attribute(api, info, "group_start", 0);
  if (groups < 0 || groups > 1 << 16 || start < 0 || step < 1 || step > 1 << 24 || start + inputs > step)
    return fail(api, ORT_INVALID_GRAPH, "Product: groups must be 0 to 2^16, and their inputs lie within their steps.");
  if (groups > 0 && (parts != 1 || p.is_gated || is_given(api, info, IN_NORM) || outputs[0] % (groups * TILE)))
    return fail(api, ORT_INVALID_GRAPH, "Product: groups have one matrix, whole tiles of outputs each, no gates and no norm.");
  p.groups = (int)groups;
  p.group_step = groups > 0 ? (int)step : 0;
  p.group_start = groups > 0 ? (int)start : 0;
  p.is_quantised = p.parts[0].format != FORMAT_F32;
  const int64_t activation_bits = int_attribute(api, info, "activation_bits", 8);
  if (activation_bits != 8 && activation_bits != 16) return fail(api, ORT_INVALID_GRAPH, "Product: activation_bits must be 8 or 16.");
  p.splits = p.is_quantised && activation_bits == 16 ? 2 : 1;
  const Tensor norm = constant_input(api, info, IN_NORM), bias = constant_input(api, info, IN_BIAS);
  if ((is_given(api, info, IN_NORM) && !norm.data) || (is_given(api, info, IN_BIAS) && !bias.data))
    return fail(api, ORT_INVALID_GRAPH, "Product: norm and bias must be constants.");
  if (norm.data && element_count(&norm) != p.inputs) return fail(api, ORT_INVALID_GRAPH, "Product: norm must have an entry for each input.");
  if (bias.data && element_count(&bias) != (p.is_gated ? 2 * p.columns : p.columns))
    return fail(api, ORT_INVALID_GRAPH, "Product: bias must have an entry for each output.");
  p.norm = norm.data;
  p.bias = bias.data;

  Kernel *k = allocate(api, sizeof *k);
  if (!k) return fail(api, ORT_INVALID_GRAPH, "Product: out of memory.");
  *k = (Kernel){.api = api, .isa = op->isa, .product = p};
  *kernel = k;
  return 0;
}

typedef struct { const Isa *isa; Product product; int items; } Job;

static void fill(void *data, size_t index) {
  const Job *job = data;
  job->isa->floats->fill_rows(&job->product, (int)index);
}

static void multiply(void *data, size_t index) {
  const Job *job = data;
  const int64_t tiles = job->product.tiles;
  job->isa->multiply(&job->product, (int)(tiles * index / job->items), (int)(tiles * (index + 1) / job->items));
}

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  Job job = {.isa = k->isa, .product = k->product};
  Product *p = &job.product;
  const Tensor x = input(api, context, IN_X), residual = input(api, context, IN_RESIDUAL);
  if (!x.data || x.rank < 1 || x.rank > MAX_RANK || x.shape[x.rank - 1] != (int64_t)row_step(p))
    return fail(api, ORT_INVALID_ARGUMENT, "Product: the last dimension of x must be its inputs, with groups those of all.");
  const int64_t rows = element_count(&x) / (int64_t)row_step(p);
  if (rows > 1 << 20) return fail(api, ORT_INVALID_ARGUMENT, "Product: too many rows.");
  if (residual.data && element_count(&residual) != rows * p->columns)
    return fail(api, ORT_INVALID_ARGUMENT, "Product: residual must have the shape of the result.");
  Tensor out = x;
  out.shape[out.rank - 1] = p->columns;
  p->out = output(api, context, 0, out.shape, out.rank);
  if (!p->out && rows > 0) return fail(api, ORT_INVALID_ARGUMENT, "Product: the result has no memory.");
  if (rows == 0) return 0;
  p->x = x.data;
  p->rows = (int)rows;
  p->residual = residual.data;
  const Scratch scratch = take_scratch(api, panels_bytes(p));
  if (!scratch.memory) return fail(api, ORT_INVALID_ARGUMENT, "Product: out of memory.");
  p->panels = scratch_start(scratch);
  const int fills = fill_total(p);
  if (rows * (int64_t)row_step(p) >= SHARED_FILL) parallel(api, context, fill, (size_t)fills, &job);
  else for (int i = 0; i < fills; i++) fill(&job, (size_t)i);
  size_t bytes = 0;
  for (int i = 0; i < p->part_count; i++) bytes += matrix_bytes(p->parts[i].format, p->inputs, p->parts[i].outputs);
  const size_t work = bytes * (size_t)round_up((size_t)p->rows * p->splits, 4) / 4;
  job.items = min_int(p->tiles, max_int(1, (int)(work / ITEM_BYTES > MAX_ITEMS ? MAX_ITEMS : work / ITEM_BYTES)));
  parallel(api, context, multiply, (size_t)job.items, &job);
  give_scratch(api, scratch);
  return 0;
}

static const uint8_t INPUT_TYPES[INPUTS] = {ELEMENT_F32, ELEMENT_UINT8, ELEMENT_UINT8, ELEMENT_UINT8, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32};
static const uint8_t OUTPUT_TYPES[1] = {ELEMENT_F32};

void describe_product(Operator *op) {
  *op = (Operator){.name = "Product", .inputs = INPUT_TYPES, .inputs_length = INPUTS, .required_inputs = 2, .outputs = OUTPUT_TYPES, .outputs_length = 1};
  complete_operator(op, create, compute);
}
