// The operator `Embedding`: rows of a matrix in tiles.
//
//   inputs      ids int64 [..]; weights uint8
//   attributes  inputs (the length of a row), outputs (the number of rows), format
//   output      float32 [.., inputs]
#include "isa.h"
#include "operators.h"
#include "ort.h"

typedef struct {
  Api api;
  const Isa *isa;
  const uint8_t *tiles;
  Format format;
  int inputs;
  int64_t outputs;
} Kernel;

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  const int64_t inputs = int_attribute(api, info, "inputs", 0), outputs = int_attribute(api, info, "outputs", 0);
  const int64_t format = int_attribute(api, info, "format", -1);
  if (inputs < 1 || inputs > 1 << 24 || outputs < 1 || outputs > 1 << 24 || format < 0 || format >= FORMAT_COUNT)
    return fail(api, ORT_INVALID_GRAPH, "Embedding: inputs, outputs and format must be given.");
  const Tensor weights = constant_input(api, info, 1);
  if (!weights.data || (size_t)element_count(&weights) != matrix_bytes((Format)format, (int)inputs, (int)outputs))
    return fail(api, ORT_INVALID_GRAPH, "Embedding: weights must be a constant of the size that outputs, inputs and format imply.");
  Kernel *k = allocate(api, sizeof *k);
  if (!k) return fail(api, ORT_INVALID_GRAPH, "Embedding: out of memory.");
  *k = (Kernel){.api = api, .isa = op->isa, .tiles = weights.data, .format = (Format)format, .inputs = (int)inputs, .outputs = outputs};
  *kernel = k;
  return 0;
}

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  const Tensor ids = input(api, context, 0);
  if (!ids.data || ids.rank >= MAX_RANK) return fail(api, ORT_INVALID_ARGUMENT, "Embedding: ids have too many dimensions.");
  const int64_t count = element_count(&ids), *id = ids.data;
  for (int64_t i = 0; i < count; i++)
    if (id[i] < 0 || id[i] >= k->outputs) return fail(api, ORT_INVALID_ARGUMENT, "Embedding: an id lies outside the vocabulary.");
  Tensor out = ids;
  out.shape[out.rank++] = k->inputs;
  float *rows = output(api, context, 0, out.shape, out.rank);
  if (!rows && count > 0) return fail(api, ORT_INVALID_ARGUMENT, "Embedding: the result has no memory.");
  for (int64_t i = 0; i < count; i++) k->isa->floats->read_row(k->format, k->tiles, k->inputs, id[i], rows + i * k->inputs);
  return 0;
}

static const uint8_t INPUT_TYPES[2] = {ELEMENT_INT64, ELEMENT_UINT8}, OUTPUT_TYPES[1] = {ELEMENT_F32};

void describe_embedding(Operator *op) {
  *op = (Operator){.name = "Embedding", .inputs = INPUT_TYPES, .inputs_length = 2, .required_inputs = 2, .outputs = OUTPUT_TYPES, .outputs_length = 1};
  complete_operator(op, create, compute);
}
