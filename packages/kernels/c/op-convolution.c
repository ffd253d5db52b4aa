// The operator `CausalConvolution`: see convolution.h and states.h.
//
//   inputs      x float32 [batch, length, columns]; past states float32 [entries, kernel - 1, channels]; states to read int32 [batch];
//               states to write int32 [batch, length]; weights [channels, .., kernel]; bias [channels]
//   attributes  channels; kernel; gated, x has three times the channels; activation, 0 or 1 for SiLU
//   outputs     float32 [batch, length, channels]; the states, in the memory of the past ones
#include "isa.h"
#include "op-states.h"
#include "operators.h"

enum { IN_X, IN_POOL, IN_READS, IN_WRITES, IN_WEIGHTS, IN_BIAS, INPUTS };

typedef struct {
  Api api;
  const Isa *isa;
  Convolution convolution;
  /** Shape: [kernel, channels]. */
  float weights[];
} Kernel;

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  const int64_t channels = int_attribute(api, info, "channels", 0), taps = int_attribute(api, info, "kernel", 0);
  const int64_t activation = int_attribute(api, info, "activation", 0);
  if (channels < LANES || channels % LANES || channels > 1 << 24)
    return fail(api, ORT_INVALID_GRAPH, "CausalConvolution: channels must be a multiple of 16.");
  if (taps < 2 || taps > MAX_KERNEL) return fail(api, ORT_INVALID_GRAPH, "CausalConvolution: kernel must be 2 to 8.");
  if (activation < 0 || activation > 1) return fail(api, ORT_INVALID_GRAPH, "CausalConvolution: activation must be 0 or 1.");
  const Tensor weights = constant_input(api, info, IN_WEIGHTS), bias = constant_input(api, info, IN_BIAS);
  if (!weights.data || element_count(&weights) != channels * taps || weights.shape[0] != channels)
    return fail(api, ORT_INVALID_GRAPH, "CausalConvolution: weights must be a constant [channels, .., kernel].");
  if (is_given(api, info, IN_BIAS) && (!bias.data || element_count(&bias) != channels))
    return fail(api, ORT_INVALID_GRAPH, "CausalConvolution: bias must be a constant with an entry for each channel.");
  Kernel *k = allocate(api, sizeof *k + (size_t)(channels * taps) * sizeof(float));
  if (!k) return fail(api, ORT_INVALID_GRAPH, "CausalConvolution: out of memory.");
  k->api = api;
  k->isa = op->isa;
  k->convolution = (Convolution){
      .channels = (int)channels,
      .kernel = (int)taps,
      .is_gated = int_attribute(api, info, "gated", 0) != 0,
      .has_silu = (int)activation,
      .weights = k->weights,
      .bias = bias.data,
      .states = {.size = (size_t)(channels * (taps - 1))},
  };
  for (int64_t i = 0; i < taps; i++)
    for (int64_t c = 0; c < channels; c++) k->weights[i * channels + c] = ((const float *)weights.data)[c * taps + i];
  *kernel = k;
  return 0;
}

typedef struct { const Isa *isa; Convolution convolution; int items; } Job;

static void convolve_item(void *data, size_t index) {
  const Job *job = data;
  job->isa->floats->convolve(&job->convolution, (int)index / job->items, (int)index % job->items * ITEM_CHANNELS);
}

/** Numbers of results from which on threads share them. */
enum { SHARED_RESULTS = 1 << 12 };

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  Job job = {.isa = k->isa, .convolution = k->convolution};
  Convolution *c = &job.convolution;
  const Tensor x = input(api, context, IN_X);
  if (!x.data || x.rank != 3 || x.shape[2] < (int64_t)c->channels * (c->is_gated ? 3 : 1) || x.shape[2] > 0x7fffffff ||
      x.shape[0] * x.shape[1] > 1 << 20)
    return fail(api, ORT_INVALID_ARGUMENT, "CausalConvolution: x must be [batch, length, columns] with a column for each channel, gated with three.");
  c->x = x.data;
  c->columns = (int)x.shape[2];
  c->states.batch = (int)x.shape[0];
  c->states.length = (int)x.shape[1];
  const Status status = read_states(api, context, (StatePlaces){IN_POOL, IN_READS, IN_WRITES, 1}, &c->states);
  if (status) return status;
  const int64_t shape[3] = {x.shape[0], x.shape[1], c->channels};
  c->out = output(api, context, 0, shape, 3);
  const int64_t tokens = x.shape[0] * x.shape[1];
  if (tokens == 0) return 0;
  if (!c->out) return fail(api, ORT_INVALID_ARGUMENT, "CausalConvolution: the result has no memory.");
  job.items = (c->channels + ITEM_CHANNELS - 1) / ITEM_CHANNELS;
  const size_t count = (size_t)c->states.batch * job.items;
  if (tokens * c->channels >= SHARED_RESULTS) parallel(api, context, convolve_item, count, &job);
  else for (size_t i = 0; i < count; i++) convolve_item(&job, i);
  return 0;
}

static const uint8_t INPUT_TYPES[INPUTS] = {ELEMENT_F32, ELEMENT_F32, ELEMENT_INT32, ELEMENT_INT32, ELEMENT_F32, ELEMENT_F32};
static const uint8_t OUTPUT_TYPES[2] = {ELEMENT_F32, ELEMENT_F32};

void describe_convolution(Operator *op) {
  *op = (Operator){.name = "CausalConvolution", .inputs = INPUT_TYPES, .inputs_length = INPUTS, .required_inputs = 5,
                   .outputs = OUTPUT_TYPES, .outputs_length = 2};
  complete_operator(op, create, compute);
}
