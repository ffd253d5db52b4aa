// The operator `Mamba2`: see mamba.h and states.h.
//
//   inputs      xbc float32 [batch, length, heads * head_size + 2 * groups * state_size]; past states float32
//               [entries, heads, state_size, head_size]; states to read int32 [batch]; states to write int32 [batch, length];
//               dt [batch, length, heads]; z [batch, length, columns]; decay_log, step_bias and skip [heads];
//               norm [heads * head_size], if any
//   attributes  heads, head_size, groups, state_size; gate_start, the first column of z; least_step and most_step; norm_groups;
//               norm_first, the norm is in front of the gate; epsilon
//   outputs     float32 [batch, length, heads * head_size]; the states, in the memory of the past ones
#include "isa.h"
#include "op-states.h"
#include "operators.h"

enum { IN_XBC, IN_POOL, IN_READS, IN_WRITES, IN_DT, IN_Z, IN_DECAY_LOG, IN_STEP_BIAS, IN_SKIP, IN_NORM, INPUTS };

typedef struct {
  Api api;
  const Isa *isa;
  Mamba mamba;
} Kernel;

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  const int64_t heads = int_attribute(api, info, "heads", 0), head_size = int_attribute(api, info, "head_size", 0);
  const int64_t groups = int_attribute(api, info, "groups", 0), state_size = int_attribute(api, info, "state_size", 0);
  const int64_t gate_start = int_attribute(api, info, "gate_start", 0), norm_groups = int_attribute(api, info, "norm_groups", 1);
  if (heads < 1 || heads > 1 << 12 || groups < 1 || heads % groups)
    return fail(api, ORT_INVALID_GRAPH, "Mamba2: heads must be a multiple of groups.");
  if (state_size < LANES || state_size > MAX_STATE_SIZE || state_size % LANES || head_size < LANES || head_size > 1 << 12 || head_size % LANES)
    return fail(api, ORT_INVALID_GRAPH, "Mamba2: state_size, at most 256, and head_size must be multiples of 16.");
  if (gate_start < 0 || gate_start > 1 << 24) return fail(api, ORT_INVALID_GRAPH, "Mamba2: gate_start must not be negative.");
  if (norm_groups < 1 || norm_groups > heads || heads % norm_groups)
    return fail(api, ORT_INVALID_GRAPH, "Mamba2: heads must be a multiple of norm_groups.");
  const Tensor log = constant_input(api, info, IN_DECAY_LOG), bias = constant_input(api, info, IN_STEP_BIAS);
  const Tensor skip = constant_input(api, info, IN_SKIP), norm = constant_input(api, info, IN_NORM);
  if (!log.data || !bias.data || !skip.data || element_count(&log) != heads || element_count(&bias) != heads || element_count(&skip) != heads)
    return fail(api, ORT_INVALID_GRAPH, "Mamba2: decay_log, step_bias and skip must be constants with an entry for each head.");
  const int has_norm = is_given(api, info, IN_NORM);
  if (has_norm && (!norm.data || element_count(&norm) != heads * head_size))
    return fail(api, ORT_INVALID_GRAPH, "Mamba2: norm must be a constant of heads * head_size entries.");
  Kernel *k = allocate(api, sizeof *k);
  if (!k) return fail(api, ORT_INVALID_GRAPH, "Mamba2: out of memory.");
  *k = (Kernel){.api = api, .isa = op->isa, .mamba = {
      .heads = (int)heads,
      .head_size = (int)head_size,
      .groups = (int)groups,
      .state_size = (int)state_size,
      .decay_log = log.data,
      .step_bias = bias.data,
      .skip = skip.data,
      .least_step = float_attribute(api, info, "least_step", 0),
      .most_step = float_attribute(api, info, "most_step", __builtin_inff()),
      .z_start = (int)gate_start,
      .norm_place = !has_norm ? NORM_NONE : int_attribute(api, info, "norm_first", 0) ? NORM_BEFORE_GATE : NORM_BEHIND_GATE,
      .norm_groups = (int)norm_groups,
      .norm = has_norm ? norm.data : 0,
      .epsilon = float_attribute(api, info, "epsilon", 1e-6f),
      .states = {.size = (size_t)(heads * state_size * head_size)},
  }};
  *kernel = k;
  return 0;
}

typedef struct { const Isa *isa; Mamba mamba; int items; } Job;

static void prepare(void *data, size_t token) {
  const Job *job = data;
  job->isa->floats->prepare_mamba(&job->mamba, (int)token);
}

static void scan(void *data, size_t index) {
  const Job *job = data;
  const int item = (int)(index % job->items), pair = (int)(index / job->items), heads = job->mamba.heads;
  job->isa->floats->scan_mamba(&job->mamba, pair / heads, pair % heads, item);
}

static void gate(void *data, size_t token) {
  const Job *job = data;
  job->isa->floats->gate_mamba(&job->mamba, (int)token);
}

/** Numbers from which on a section is worth several threads. */
enum { SHARED_COLUMNS = 1 << 14 };

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  Job job = {.isa = k->isa, .mamba = k->mamba};
  Mamba *m = &job.mamba;
  const Tensor xbc = input(api, context, IN_XBC), dt = input(api, context, IN_DT), z = input(api, context, IN_Z);
  const int64_t columns = (int64_t)mamba_columns(m), width = (int64_t)mamba_width(m);
  if (!xbc.data || xbc.rank != 3 || xbc.shape[2] != columns || xbc.shape[0] * xbc.shape[1] > 1 << 20)
    return fail(api, ORT_INVALID_ARGUMENT, "Mamba2: xbc must be [batch, length, heads * head_size + 2 * groups * state_size].");
  const int64_t tokens = xbc.shape[0] * xbc.shape[1];
  if (!dt.data || element_count(&dt) != tokens * m->heads)
    return fail(api, ORT_INVALID_ARGUMENT, "Mamba2: dt must be [batch, length, heads].");
  if (!z.data || z.rank != 3 || z.shape[2] < m->z_start + width || z.shape[2] > 0x7fffffff || element_count(&z) != tokens * z.shape[2])
    return fail(api, ORT_INVALID_ARGUMENT, "Mamba2: z must be [batch, length, columns] with heads * head_size from gate_start on.");
  m->xbc = xbc.data;
  m->dt = dt.data;
  m->z = z.data;
  m->z_columns = (int)z.shape[2];
  m->states.batch = (int)xbc.shape[0];
  m->states.length = (int)xbc.shape[1];
  const Status status = read_states(api, context, (StatePlaces){IN_POOL, IN_READS, IN_WRITES, 1}, &m->states);
  if (status) return status;
  const int64_t shape[3] = {xbc.shape[0], xbc.shape[1], width};
  m->out = output(api, context, 0, shape, 3);
  if (tokens == 0) return 0;
  if (!m->out) return fail(api, ORT_INVALID_ARGUMENT, "Mamba2: the result has no memory.");
  const Scratch scratch = take_scratch(api, (size_t)tokens * 2 * m->heads * sizeof(float));
  if (!scratch.memory) return fail(api, ORT_INVALID_ARGUMENT, "Mamba2: out of memory.");
  m->decays = (float *)scratch_start(scratch);
  m->steps = m->decays + tokens * m->heads;
  job.items = mamba_items(m);
  const int is_shared = tokens * columns >= SHARED_COLUMNS;
  if (is_shared) parallel(api, context, prepare, (size_t)tokens, &job);
  else for (int64_t i = 0; i < tokens; i++) prepare(&job, (size_t)i);
  parallel(api, context, scan, (size_t)(m->states.batch * m->heads) * job.items, &job);
  if (is_shared) parallel(api, context, gate, (size_t)tokens, &job);
  else for (int64_t i = 0; i < tokens; i++) gate(&job, (size_t)i);
  give_scratch(api, scratch);
  return 0;
}

static const uint8_t INPUT_TYPES[INPUTS] = {ELEMENT_F32, ELEMENT_F32, ELEMENT_INT32, ELEMENT_INT32, ELEMENT_F32,
                                            ELEMENT_F32, ELEMENT_F32, ELEMENT_F32,   ELEMENT_F32,   ELEMENT_F32};
static const uint8_t OUTPUT_TYPES[2] = {ELEMENT_F32, ELEMENT_F32};

void describe_mamba(Operator *op) {
  *op = (Operator){.name = "Mamba2", .inputs = INPUT_TYPES, .inputs_length = INPUTS, .required_inputs = IN_NORM,
                   .outputs = OUTPUT_TYPES, .outputs_length = 2};
  complete_operator(op, create, compute);
}
