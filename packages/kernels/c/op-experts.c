// The operator `Experts`: see experts.h.
//
//   inputs      x float32 [.., inputs]; logits float32 [.., experts]; gates and ups uint8: a tile of gates and a tile of ups in turns,
//               expert after expert, or ups alone; downs uint8, expert after expert; norm [inputs]; bias of gates and ups
//               [experts, 2 * inner], gates first, or of ups [experts, inner]; bias of downs [experts, inputs]; selection bias
//               [experts]; residual [.., inputs]
//   attributes  inputs; inner, outputs of one expert's ups; experts; chosen, of each row; formats and activation_bits (8 or 16), of
//               gates and ups, then of downs; gated (1); activation; limit, of activation 3; scoring (0 softmax, 1 sigmoid);
//               normalised; scale; epsilon; groups of experts (0: none), chosen_groups and group_keys (1 or 2)
//   output      float32 [.., inputs]
#include "isa.h"
#include "operators.h"
#include "ort.h"

enum { IN_X, IN_LOGITS, IN_UP, IN_DOWN, IN_NORM, IN_UP_BIAS, IN_DOWN_BIAS, IN_SELECTION_BIAS, IN_RESIDUAL, INPUTS };

typedef struct {
  Api api;
  const Isa *isa;
  Experts experts;
} Kernel;

/** As of a product: bytes of weights that one work item reads, about. */
enum { ITEM_BYTES = 48 << 10, MOST_ITEMS = 256 };
/** Rows from which on routing, and numbers from which on filling and adding are shared by threads. */
enum { SHARED_ROWS = 16, SHARED_NUMBERS = 1 << 13 };

static int64_t in_range(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

/** One of the two products. Gives a message where its weights are not as its sizes imply. */
static const char *read_product(Api api, Info *info, const Experts *e, int part, const int64_t *formats, const int64_t *bits, Product *p) {
  if (!in_range(formats[part], 0, FORMAT_COUNT - 1)) return "Experts: unknown format of weights.";
  if (bits[part] != 8 && bits[part] != 16) return "Experts: activation_bits must be 8 or 16.";
  const int halves = p->is_gated ? 2 : 1;
  p->blocks = block_count(p->inputs);
  p->part_count = 1;
  p->tiles = tile_count(p->columns);
  p->is_quantised = formats[part] != FORMAT_F32;
  p->splits = p->is_quantised && bits[part] == 16 ? 2 : 1;
  p->parts[0] = (Part){.format = (Format)formats[part], .outputs = halves * p->columns};
  const Tensor weights = constant_input(api, info, part == UP ? IN_UP : IN_DOWN);
  const size_t bytes = (size_t)halves * p->tiles * tile_bytes(p->parts[0].format, p->inputs);
  if (!weights.data || (size_t)element_count(&weights) != bytes * (size_t)e->count)
    return "Experts: weights must be constants of the sizes that experts, inner, inputs and formats imply.";
  p->parts[0].tiles = weights.data;
  const Tensor bias = constant_input(api, info, part == UP ? IN_UP_BIAS : IN_DOWN_BIAS);
  if (is_given(api, info, part == UP ? IN_UP_BIAS : IN_DOWN_BIAS)) {
    if (!bias.data || element_count(&bias) != (int64_t)e->count * p->parts[0].outputs)
      return "Experts: a bias must be a constant with an entry for each output of each expert.";
    p->bias = bias.data;
  }
  return 0;
}

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  Experts e = {0};
  int64_t formats[2], bits[2];
  const int64_t inputs = int_attribute(api, info, "inputs", 0), inner = int_attribute(api, info, "inner", 0);
  const int64_t count = int_attribute(api, info, "experts", 0), chosen = int_attribute(api, info, "chosen", 0);
  if (!in_range(inputs, 1, 1 << 24) || !in_range(inner, 1, 1 << 23)) return fail(api, ORT_INVALID_GRAPH, "Experts: inputs and inner must be 1 to 2^24 and 2^23.");
  if (!in_range(count, 1, MAX_EXPERTS) || !in_range(chosen, 1, MAX_CHOSEN) || chosen > count)
    return fail(api, ORT_INVALID_GRAPH, "Experts: there are 1 to 1024 experts, and of them 1 to 64 are chosen.");
  if (int_attributes(api, info, "formats", formats, 2) != 2 || int_attributes(api, info, "activation_bits", bits, 2) != 2)
    return fail(api, ORT_INVALID_GRAPH, "Experts: formats and activation_bits have two entries each.");
  const int64_t activation = int_attribute(api, info, "activation", 0), scoring = int_attribute(api, info, "scoring", 0);
  if (!in_range(activation, 0, ACTIVATION_COUNT - 1) || !in_range(scoring, 0, SCORING_COUNT - 1))
    return fail(api, ORT_INVALID_GRAPH, "Experts: unknown activation or scoring.");
  e.count = (int)count;
  e.chosen = (int)chosen;
  e.scoring = (Scoring)scoring;
  e.is_normalised = int_attribute(api, info, "normalised", 0) != 0;
  const int64_t groups = int_attribute(api, info, "groups", 0), chosen_groups = int_attribute(api, info, "chosen_groups", groups);
  const int64_t group_keys = int_attribute(api, info, "group_keys", 1);
  if (!in_range(groups, 0, MAX_CHOSEN) || (groups > 0 && (count % groups || !in_range(chosen_groups, 1, groups))) || !in_range(group_keys, 1, 2))
    return fail(api, ORT_INVALID_GRAPH, "Experts: there are up to 64 groups of equal sizes, of them 1 or more are chosen, by 1 or 2 keys.");
  if (groups > 0 && chosen > count / groups * chosen_groups)
    return fail(api, ORT_INVALID_GRAPH, "Experts: the chosen groups must have as many experts as are chosen.");
  e.groups = (int)groups;
  e.chosen_groups = (int)chosen_groups;
  e.group_keys = groups > 0 ? (int)group_keys : 0;
  e.scale = float_attribute(api, info, "scale", 1);
  e.up = (Product){.inputs = (int)inputs, .columns = (int)inner, .activation = (Activation)activation};
  e.up.is_gated = int_attribute(api, info, "gated", 1) != 0;
  e.up.limit = float_attribute(api, info, "limit", 0);
  e.up.epsilon = float_attribute(api, info, "epsilon", 1e-5f);
  if (activation == ACTIVATION_CLAMPED && !(e.up.limit > 0 && e.up.is_gated))
    return fail(api, ORT_INVALID_GRAPH, "Experts: limit must be above 0, and experts have gates.");
  e.down = (Product){.inputs = (int)inner, .columns = (int)inputs};
  for (int part = UP; part <= DOWN; part++) {
    const char *fault = read_product(api, info, &e, part, formats, bits, part == UP ? &e.up : &e.down);
    if (fault) return fail(api, ORT_INVALID_GRAPH, fault);
  }
  e.up_bytes = (e.up.is_gated ? 2 : 1) * tile_bytes(e.up.parts[0].format, e.up.inputs) * e.up.tiles;
  e.down_bytes = tile_bytes(e.down.parts[0].format, e.down.inputs) * e.down.tiles;
  const Tensor norm = constant_input(api, info, IN_NORM), selection = constant_input(api, info, IN_SELECTION_BIAS);
  if ((is_given(api, info, IN_NORM) && (!norm.data || element_count(&norm) != inputs)) ||
      (is_given(api, info, IN_SELECTION_BIAS) && (!selection.data || element_count(&selection) != count)))
    return fail(api, ORT_INVALID_GRAPH, "Experts: norm and selection bias must be constants with an entry for each input and each expert.");
  e.up.norm = norm.data;
  e.selection_bias = selection.data;

  Kernel *k = allocate(api, sizeof *k);
  if (!k) return fail(api, ORT_INVALID_GRAPH, "Experts: out of memory.");
  *k = (Kernel){.api = api, .isa = op->isa, .experts = e};
  *kernel = k;
  return 0;
}

typedef struct {
  Api api;
  Context *context;
  const Isa *isa;
  Experts experts;
  /** Of the product in work: which one, and the first work item of each expert. */
  int part;
  int32_t first_items[MAX_EXPERTS + 1];
} Job;

static void route(void *data, size_t row) {
  const Job *job = data;
  job->isa->floats->route_row(&job->experts, (int)row);
}

static void combine(void *data, size_t row) {
  const Job *job = data;
  job->isa->floats->combine_row(&job->experts, (int)row);
}

static void fill(void *data, size_t index) {
  const Job *job = data;
  const Experts *e = &job->experts;
  const int32_t *first = e->first_fills[job->part];
  const int expert = expert_of(first, e->count, (int)index);
  const Product p = expert_product(e, job->part, expert);
  job->isa->floats->fill_rows(&p, (int)index - first[expert]);
}

static void multiply(void *data, size_t index) {
  const Job *job = data;
  const Experts *e = &job->experts;
  const int expert = expert_of(job->first_items, e->count, (int)index);
  const int first = job->first_items[expert];
  const int64_t item = (int64_t)index - first, items = job->first_items[expert + 1] - first;
  const Product p = expert_product(e, job->part, expert);
  job->isa->multiply(&p, (int)(p.tiles * item / items), (int)(p.tiles * (item + 1) / items));
}

/** Calls of threads where there is enough to do, else of this one. */
static void share(Job *job, void (*work)(void *, size_t), int count, int is_enough) {
  if (is_enough) parallel(job->api, job->context, work, (size_t)count, job);
  else for (int i = 0; i < count; i++) work(job, (size_t)i);
}

/** Bytes of weights that an expert's rows go through, about, counting four rows of activations as one pass. */
static size_t work_of(const Experts *e, int part, int expert) {
  const int rows = e->first_places[expert + 1] - e->first_places[expert];
  const size_t bytes = part == UP ? e->up_bytes : e->down_bytes;
  return bytes * round_up((size_t)rows * expert_part(e, part)->splits, 4) / 4;
}

/** Gives each expert with rows as many work items as it has a share of the work. */
static int divide_work(Job *job) {
  const Experts *e = &job->experts;
  const int tiles = expert_part(e, job->part)->tiles;
  size_t total = 0;
  for (int i = 0; i < e->count; i++) total += work_of(e, job->part, i);
  const size_t item_bytes = total / MOST_ITEMS > ITEM_BYTES ? total / MOST_ITEMS : ITEM_BYTES;
  job->first_items[0] = 0;
  for (int i = 0; i < e->count; i++) {
    const size_t work = work_of(e, job->part, i), items = work / item_bytes < (size_t)tiles ? work / item_bytes : (size_t)tiles;
    job->first_items[i + 1] = job->first_items[i] + (work == 0 ? 0 : max_int(1, (int)items));
  }
  return job->first_items[e->count];
}

static void run_product(Job *job, int part) {
  const Experts *e = &job->experts;
  job->part = part;
  const int64_t numbers = (int64_t)e->rows * e->chosen * expert_part(e, part)->inputs;
  share(job, fill, e->first_fills[part][e->count], numbers >= SHARED_NUMBERS);
  parallel(job->api, job->context, multiply, (size_t)divide_work(job), job);
}

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  Job job = {.api = api, .context = context, .isa = k->isa, .experts = k->experts};
  Experts *e = &job.experts;
  const Tensor x = input(api, context, IN_X), logits = input(api, context, IN_LOGITS), residual = input(api, context, IN_RESIDUAL);
  if (!x.data || x.rank < 1 || x.rank > MAX_RANK || x.shape[x.rank - 1] != e->up.inputs)
    return fail(api, ORT_INVALID_ARGUMENT, "Experts: the last dimension of x must be its inputs.");
  const int64_t rows = element_count(&x) / e->up.inputs;
  if (rows > 1 << 20) return fail(api, ORT_INVALID_ARGUMENT, "Experts: too many rows.");
  if (!logits.data || element_count(&logits) != rows * e->count)
    return fail(api, ORT_INVALID_ARGUMENT, "Experts: logits must have a number for each row and expert.");
  if (residual.data && element_count(&residual) != rows * e->up.inputs)
    return fail(api, ORT_INVALID_ARGUMENT, "Experts: residual must have the shape of x.");
  e->out = output(api, context, 0, x.shape, x.rank);
  if (!e->out && rows > 0) return fail(api, ORT_INVALID_ARGUMENT, "Experts: the result has no memory.");
  if (rows == 0) return 0;
  e->rows = (int)rows;
  e->logits = logits.data;
  e->residual = residual.data;
  e->up.x = x.data;
  const Scratch scratch = take_scratch(api, experts_bytes(e));
  if (!scratch.memory) return fail(api, ORT_INVALID_ARGUMENT, "Experts: out of memory.");
  lay_out_experts(e, scratch_start(scratch));
  share(&job, route, e->rows, rows >= SHARED_ROWS);
  group_rows(e);
  run_product(&job, UP);
  run_product(&job, DOWN);
  share(&job, combine, e->rows, rows * e->chosen * e->up.inputs >= SHARED_NUMBERS && rows > 1);
  give_scratch(api, scratch);
  return 0;
}

static const uint8_t INPUT_TYPES[INPUTS] = {ELEMENT_F32, ELEMENT_F32, ELEMENT_UINT8, ELEMENT_UINT8, ELEMENT_F32,
                                            ELEMENT_F32, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32};
static const uint8_t OUTPUT_TYPES[1] = {ELEMENT_F32};

void describe_experts(Operator *op) {
  *op = (Operator){.name = "Experts", .inputs = INPUT_TYPES, .inputs_length = INPUTS, .required_inputs = 4, .outputs = OUTPUT_TYPES, .outputs_length = 1};
  complete_operator(op, create, compute);
}
