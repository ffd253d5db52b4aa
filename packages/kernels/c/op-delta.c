// The operator `GatedDeltaNet`: see delta.h and states.h.
//
//   inputs      qkv float32 [batch, length, 2 * key_heads * key_size + value_heads * value_size]; past states float32
//               [entries, value_heads, key_size, value_size]; states to read int32 [batch]; states to write int32 [batch, length];
//               gates [batch, length, 2 * value_heads], b and a; z [batch, length, columns]; decay_log and decay_bias [value_heads];
//               norm [value_size]
//   attributes  key_heads, value_heads, key_size, value_size; gate_start, the first column of z; epsilon; keys_in_turns
//   outputs     float32 [batch, length, value_heads * value_size]; the states, in the memory of the past ones
#include "isa.h"
#include "op-states.h"
#include "operators.h"

enum { IN_QKV, IN_POOL, IN_READS, IN_WRITES, IN_GATES, IN_Z, IN_DECAY_LOG, IN_DECAY_BIAS, IN_NORM, INPUTS };

typedef struct {
  Api api;
  const Isa *isa;
  Delta delta;
} Kernel;

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  const int64_t key_heads = int_attribute(api, info, "key_heads", 0), value_heads = int_attribute(api, info, "value_heads", 0);
  const int64_t key_size = int_attribute(api, info, "key_size", 0), value_size = int_attribute(api, info, "value_size", 0);
  const int64_t gate_start = int_attribute(api, info, "gate_start", 0);
  if (key_heads < 1 || value_heads < 1 || value_heads > 1 << 12 || value_heads % key_heads)
    return fail(api, ORT_INVALID_GRAPH, "GatedDeltaNet: value_heads must be a multiple of key_heads.");
  if (key_size < LANES || key_size > MAX_KEY_SIZE || key_size % LANES || value_size < LANES || value_size > 1 << 12 || value_size % LANES)
    return fail(api, ORT_INVALID_GRAPH, "GatedDeltaNet: key_size, at most 256, and value_size must be multiples of 16.");
  if (gate_start < 0 || gate_start > 1 << 24) return fail(api, ORT_INVALID_GRAPH, "GatedDeltaNet: gate_start must not be negative.");
  const Tensor log = constant_input(api, info, IN_DECAY_LOG), bias = constant_input(api, info, IN_DECAY_BIAS);
  const Tensor norm = constant_input(api, info, IN_NORM);
  if (!log.data || !bias.data || element_count(&log) != value_heads || element_count(&bias) != value_heads)
    return fail(api, ORT_INVALID_GRAPH, "GatedDeltaNet: decay_log and decay_bias must be constants with an entry for each head of values.");
  if (!norm.data || element_count(&norm) != value_size)
    return fail(api, ORT_INVALID_GRAPH, "GatedDeltaNet: norm must be a constant of value_size entries.");
  Kernel *k = allocate(api, sizeof *k);
  if (!k) return fail(api, ORT_INVALID_GRAPH, "GatedDeltaNet: out of memory.");
  *k = (Kernel){.api = api, .isa = op->isa, .delta = {
      .key_heads = (int)key_heads,
      .value_heads = (int)value_heads,
      .key_size = (int)key_size,
      .value_size = (int)value_size,
      .keys_in_turns = int_attribute(api, info, "keys_in_turns", 0) != 0,
      .decay_log = log.data,
      .decay_bias = bias.data,
      .norm = norm.data,
      .z_start = (int)gate_start,
      .epsilon = float_attribute(api, info, "epsilon", 1e-6f),
      .states = {.size = (size_t)(value_heads * key_size * value_size)},
  }};
  *kernel = k;
  return 0;
}

typedef struct { const Isa *isa; Delta delta; int items; } Job;

static void prepare(void *data, size_t token) {
  const Job *job = data;
  job->isa->floats->prepare_delta(&job->delta, (int)token);
}

static void recur(void *data, size_t index) {
  const Job *job = data;
  const int item = (int)(index % job->items), pair = (int)(index / job->items), heads = job->delta.value_heads;
  job->isa->floats->recur_delta(&job->delta, pair / heads, pair % heads, item);
}

static void gate(void *data, size_t token) {
  const Job *job = data;
  job->isa->floats->gate_delta(&job->delta, (int)token);
}

/** Numbers from which on a section is worth several threads. */
enum { SHARED_COLUMNS = 1 << 14 };

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  Job job = {.isa = k->isa, .delta = k->delta};
  Delta *d = &job.delta;
  const Tensor qkv = input(api, context, IN_QKV), gates = input(api, context, IN_GATES), z = input(api, context, IN_Z);
  const int64_t columns = (int64_t)delta_columns(d), values = (int64_t)d->value_heads * d->value_size;
  if (!qkv.data || qkv.rank != 3 || qkv.shape[2] != columns || qkv.shape[0] * qkv.shape[1] > 1 << 20)
    return fail(api, ORT_INVALID_ARGUMENT, "GatedDeltaNet: qkv must be [batch, length, 2 * key_heads * key_size + value_heads * value_size].");
  const int64_t tokens = qkv.shape[0] * qkv.shape[1];
  if (!gates.data || element_count(&gates) != tokens * 2 * d->value_heads)
    return fail(api, ORT_INVALID_ARGUMENT, "GatedDeltaNet: gates must be [batch, length, 2 * value_heads].");
  if (!z.data || z.rank != 3 || z.shape[2] < d->z_start + values || z.shape[2] > 0x7fffffff || element_count(&z) != tokens * z.shape[2])
    return fail(api, ORT_INVALID_ARGUMENT, "GatedDeltaNet: z must be [batch, length, columns] with value_heads * value_size from gate_start on.");
  d->qkv = qkv.data;
  d->gates = gates.data;
  d->z = z.data;
  d->z_columns = (int)z.shape[2];
  d->states.batch = (int)qkv.shape[0];
  d->states.length = (int)qkv.shape[1];
  const Status status = read_states(api, context, (StatePlaces){IN_POOL, IN_READS, IN_WRITES, 1}, &d->states);
  if (status) return status;
  const int64_t shape[3] = {qkv.shape[0], qkv.shape[1], values};
  d->out = output(api, context, 0, shape, 3);
  if (tokens == 0) return 0;
  if (!d->out) return fail(api, ORT_INVALID_ARGUMENT, "GatedDeltaNet: the result has no memory.");
  const Scratch scratch = take_scratch(api, (size_t)tokens * delta_token_floats(d) * sizeof(float));
  if (!scratch.memory) return fail(api, ORT_INVALID_ARGUMENT, "GatedDeltaNet: out of memory.");
  d->queries = (float *)scratch_start(scratch);
  d->keys = d->queries + tokens * d->key_heads * d->key_size;
  d->products = d->keys + tokens * d->key_heads * d->key_size;
  d->decays = d->products + tokens * d->key_heads;
  d->betas = d->decays + tokens * d->value_heads;
  job.items = delta_items(d);
  const int is_shared = tokens * columns >= SHARED_COLUMNS;
  if (is_shared) parallel(api, context, prepare, (size_t)tokens, &job);
  else for (int64_t i = 0; i < tokens; i++) prepare(&job, (size_t)i);
  parallel(api, context, recur, (size_t)(d->states.batch * d->value_heads) * job.items, &job);
  if (is_shared) parallel(api, context, gate, (size_t)tokens, &job);
  else for (int64_t i = 0; i < tokens; i++) gate(&job, (size_t)i);
  give_scratch(api, scratch);
  return 0;
}

static const uint8_t INPUT_TYPES[INPUTS] = {ELEMENT_F32, ELEMENT_F32, ELEMENT_INT32, ELEMENT_INT32, ELEMENT_F32,
                                            ELEMENT_F32, ELEMENT_F32, ELEMENT_F32,   ELEMENT_F32};
static const uint8_t OUTPUT_TYPES[2] = {ELEMENT_F32, ELEMENT_F32};

void describe_delta(Operator *op) {
  *op = (Operator){.name = "GatedDeltaNet", .inputs = INPUT_TYPES, .inputs_length = INPUTS, .required_inputs = INPUTS,
                   .outputs = OUTPUT_TYPES, .outputs_length = 2};
  complete_operator(op, create, compute);
}
