// The operators `Attention`, `AttentionFloat16` and `AttentionInt8`, one for each type of cache: see attention.h and cache.h.
//
//   inputs      qkv float32 [batch, length, packed heads * head_size]; past keys and values [batch, kv_heads, capacity, row];
//               last int32 [batch], the position of each sequence's last token; cosines and sines [positions, rotary / 2];
//               query_norm and key_norm [head_size]; sinks [heads]
//   attributes  heads, kv_heads, head_size, gated, interleaved, window, scale, softcap, epsilon, reads_only, keys_only
//   outputs     float32 [batch, length, heads * head_size]; the caches, in the memory of the past ones
//
// With `gated` each head of queries in qkv has a gate behind it, whose sigmoid multiplies its result.
// With `reads_only` the caches are those of another layer, which has appended these tokens: there are no keys and values in qkv and no
// caches among the outputs. With `keys_only` keys are the values too, as they are behind norm and rotation: there are no values in
// qkv, the past values are the past keys, and there are no values among the outputs. Capacities are whole groups of 16. With a window they may be less than the positions, if they are whole
// pieces of 256 and hold the window and the call's tokens: position p is then at p modulo capacity.
#include "isa.h"
#include "operators.h"
#include "ort.h"

enum { IN_QKV, IN_KEYS, IN_VALUES, IN_LAST, IN_COSINES, IN_SINES, IN_QUERY_NORM, IN_KEY_NORM, IN_SINKS, INPUTS };

typedef struct {
  Api api;
  const Isa *isa;
  Attention attention;
  int positions;
} Kernel;

static Status create(const Operator *op, Api api, Info *info, void **kernel) {
  Attention a = {.type = (CacheType)op->kind, .int8 = op->isa->int8};
  const int64_t heads = int_attribute(api, info, "heads", 0), kv_heads = int_attribute(api, info, "kv_heads", 0);
  const int64_t head_size = int_attribute(api, info, "head_size", 0), window = int_attribute(api, info, "window", 0);
  if (heads < 1 || kv_heads < 1 || heads > 1 << 16 || heads % kv_heads)
    return fail(api, ORT_INVALID_GRAPH, "Attention: heads must be a multiple of kv_heads.");
  if (head_size < 1 || head_size > MAX_HEAD_SIZE) return fail(api, ORT_INVALID_GRAPH, "Attention: head_size must be 1 to 640.");
  if (window < 0 || window > 0x7fffffff) return fail(api, ORT_INVALID_GRAPH, "Attention: window must not be negative.");
  a.heads = (int)heads;
  a.kv_heads = (int)kv_heads;
  a.head_size = (int)head_size;
  a.window = (int)window;
  a.is_interleaved = int_attribute(api, info, "interleaved", 0) != 0;
  a.is_gated = int_attribute(api, info, "gated", 0) != 0;
  a.reads_only = int_attribute(api, info, "reads_only", 0) != 0;
  a.keys_only = int_attribute(api, info, "keys_only", 0) != 0;
  a.scale = float_attribute(api, info, "scale", 1.0f / __builtin_sqrtf((float)head_size));
  a.softcap = float_attribute(api, info, "softcap", 0);
  a.epsilon = float_attribute(api, info, "epsilon", 1e-6f);
  if (!(a.softcap >= 0)) return fail(api, ORT_INVALID_GRAPH, "Attention: softcap must not be negative.");
  for (size_t i = IN_COSINES; i < INPUTS; i++)
    if (is_given(api, info, i) && !constant_input(api, info, i).data)
      return fail(api, ORT_INVALID_GRAPH, "Attention: rotary tables, norms and sinks must be constants.");
  const Tensor cosines = constant_input(api, info, IN_COSINES), sines = constant_input(api, info, IN_SINES);
  if (!cosines.data != !sines.data) return fail(api, ORT_INVALID_GRAPH, "Attention: cosines and sines go together.");
  int64_t positions = 0x7fffffff;
  if (cosines.data) {
    if (cosines.rank != 2 || sines.rank != 2 || sines.shape[0] != cosines.shape[0] || sines.shape[1] != cosines.shape[1] ||
        2 * cosines.shape[1] > head_size)
      return fail(api, ORT_INVALID_GRAPH, "Attention: cosines and sines must be [positions, half of the rotated channels].");
    a.rotary = 2 * (int)cosines.shape[1];
    positions = cosines.shape[0];
  }
  const Tensor query_norm = constant_input(api, info, IN_QUERY_NORM), key_norm = constant_input(api, info, IN_KEY_NORM);
  const Tensor sinks = constant_input(api, info, IN_SINKS);
  if ((query_norm.data && element_count(&query_norm) != head_size) || (key_norm.data && element_count(&key_norm) != head_size))
    return fail(api, ORT_INVALID_GRAPH, "Attention: norms must have head_size entries.");
  if (a.reads_only && key_norm.data) return fail(api, ORT_INVALID_GRAPH, "Attention: with reads_only there are no keys to normalise.");
  if (sinks.data && element_count(&sinks) != heads) return fail(api, ORT_INVALID_GRAPH, "Attention: sinks must have an entry for each head.");
  a.cosines = cosines.data;
  a.sines = sines.data;
  a.query_norm = query_norm.data;
  a.key_norm = key_norm.data;
  a.sinks = sinks.data;
  Kernel *k = allocate(api, sizeof *k);
  if (!k) return fail(api, ORT_INVALID_GRAPH, "Attention: out of memory.");
  *k = (Kernel){.api = api, .isa = op->isa, .attention = a, .positions = (int)positions};
  *kernel = k;
  return 0;
}

typedef struct {
  const Isa *isa;
  Attention attention;
  int items;
  uint8_t *memory;
  size_t memory_bytes;
} Job;

static void prepare(void *data, size_t index) {
  const Job *job = data;
  job->isa->floats->prepare_token(&job->attention, (int)index);
}

static void attend_pieces(void *data, size_t index) {
  const Job *job = data;
  const Attention *a = &job->attention;
  const int piece = (int)(index % a->pieces), pair = (int)(index / a->pieces);
  job->isa->floats->attend_piece(a, pair / a->kv_heads, pair % a->kv_heads, piece);
}

static void merge(void *data, size_t index) {
  const Job *job = data;
  const Attention *a = &job->attention;
  job->isa->floats->merge_pieces(a, (int)index / a->kv_heads, (int)index % a->kv_heads);
}

static void attend_rows(void *data, size_t index) {
  const Job *job = data;
  const Attention *a = &job->attention;
  // The last rows of a prompt see the most keys: they come first, so that threads end together.
  const int item = job->items - 1 - (int)index % job->items, pair = (int)index / job->items;
  const int first = item * ITEM_ROWS, count = min_int(ITEM_ROWS, query_rows(a) - first);
  job->isa->floats->attend_rows(a, pair / a->kv_heads, pair % a->kv_heads, first, count, job->memory + job->memory_bytes * index);
}

/** Numbers from which on a section is worth several threads. */
enum { SHARED_TOKENS = 1 << 12, SHARED_KEYS = 1 << 15 };
/** Items of rows up to which pieces are shared in their place, where many heads of one token attend to the same keys. */
enum { FEW_ITEMS = 4 };

static Status compute(void *kernel, Context *context) {
  const Kernel *k = kernel;
  Api api = k->api;
  Job job = {.isa = k->isa, .attention = k->attention};
  Attention *a = &job.attention;
  const Tensor qkv = input(api, context, IN_QKV), keys = input(api, context, IN_KEYS), values = input(api, context, IN_VALUES);
  const Tensor last = input(api, context, IN_LAST);
  const int64_t columns = (int64_t)packed_heads(a) * a->head_size;
  if (!qkv.data || qkv.rank != 3 || qkv.shape[2] != columns || qkv.shape[0] * qkv.shape[1] > 1 << 20)
    return fail(api, ORT_INVALID_ARGUMENT, "Attention: qkv must be [batch, length, (heads + 2 * kv_heads) * head_size], with keys_only (heads + kv_heads) * head_size, with reads_only heads * head_size.");
  if (!keys.data || keys.rank != 4 || keys.shape[0] != qkv.shape[0] || keys.shape[1] != a->kv_heads || keys.shape[2] % GROUP ||
      keys.shape[2] > 0x7fffffff || keys.shape[3] != cache_row(a->type, a->head_size))
    return fail(api, ORT_INVALID_ARGUMENT, "Attention: past keys must be [batch, kv_heads, capacity, row] with a capacity of whole groups of 16.");
  if (!values.data || values.rank != 4) return fail(api, ORT_INVALID_ARGUMENT, "Attention: past values are missing.");
  for (int i = 0; i < 4; i++)
    if (values.shape[i] != keys.shape[i]) return fail(api, ORT_INVALID_ARGUMENT, "Attention: past values must have the shape of the keys.");
  a->batch = (int)qkv.shape[0];
  a->length = (int)qkv.shape[1];
  a->capacity = (int)keys.shape[2];
  a->qkv = qkv.data;
  a->last = last.data;
  if (!last.data || element_count(&last) != a->batch) return fail(api, ORT_INVALID_ARGUMENT, "Attention: last must have an entry for each sequence.");
  const int is_ring = a->window > 0 && a->capacity % PIECE == 0 && a->window + (int64_t)a->length - 1 <= a->capacity;
  const int limit = is_ring ? k->positions : min_int(a->capacity, k->positions);
  int most = 0;
  for (int b = 0; b < a->batch; b++) {
    if ((int64_t)a->last[b] - a->length + 1 < 0 || a->last[b] >= limit)
      return fail(api, ORT_INVALID_ARGUMENT, "Attention: a position lies outside the cache or the rotary tables.");
    most = max_int(most, a->last[b] + 1);
  }
  a->keys = a->reads_only ? keys.data : output(api, context, 1, keys.shape, 4);
  a->values = a->keys_only ? a->keys : a->reads_only ? values.data : output(api, context, 2, values.shape, 4);
  if (a->keys != keys.data || a->values != values.data)
    return fail(api, ORT_INVALID_ARGUMENT, "Attention: past and present caches must be the same memory.");
  const int64_t shape[3] = {a->batch, a->length, (int64_t)a->heads * a->head_size};
  a->out = output(api, context, 0, shape, 3);
  const int tokens = a->batch * a->length;
  if (tokens == 0) return 0;
  if (!a->out) return fail(api, ORT_INVALID_ARGUMENT, "Attention: the result has no memory.");

  const int pairs = a->batch * a->kv_heads, channels = cache_channels(a->head_size);
  a->pieces = (most + PIECE - 1) / PIECE;
  job.items = (query_rows(a) + ITEM_ROWS - 1) / ITEM_ROWS;
  const int is_short = query_rows(a) <= QUERY_ROWS || (a->length == 1 && pairs * job.items <= FEW_ITEMS);
  job.memory_bytes = round_up(item_bytes(a), 64);
  const size_t queries_bytes = round_up(query_bytes(a) * (size_t)pairs, 64);
  const size_t piece_rows = (size_t)pairs * a->pieces * whole_rows(a);
  const size_t piece_bytes = is_short ? piece_rows * (channels + 2) * 4 : job.memory_bytes * (size_t)pairs * job.items;
  const Scratch scratch = take_scratch(api, queries_bytes + piece_bytes);
  if (!scratch.memory) return fail(api, ORT_INVALID_ARGUMENT, "Attention: out of memory.");
  a->queries = scratch_start(scratch);
  uint8_t *rest = a->queries + queries_bytes;

  if ((int64_t)tokens * columns >= SHARED_TOKENS) parallel(api, context, prepare, (size_t)tokens, &job);
  else for (int i = 0; i < tokens; i++) prepare(&job, (size_t)i);
  if (is_short) {
    a->piece_values = (float *)rest;
    a->piece_peaks = a->piece_values + piece_rows * channels;
    a->piece_sums = a->piece_peaks + piece_rows;
    const size_t count = (size_t)pairs * a->pieces;
    if ((int64_t)most * pairs * a->head_size >= SHARED_KEYS) parallel(api, context, attend_pieces, count, &job);
    else for (size_t i = 0; i < count; i++) attend_pieces(&job, i);
    if ((int64_t)pairs * a->pieces * query_rows(a) * channels >= SHARED_KEYS) parallel(api, context, merge, (size_t)pairs, &job);
    else for (int i = 0; i < pairs; i++) merge(&job, (size_t)i);
  } else {
    job.memory = rest;
    parallel(api, context, attend_rows, (size_t)pairs * job.items, &job);
  }
  give_scratch(api, scratch);
  return 0;
}

#define INPUT_TYPES(type) {ELEMENT_F32, type, type, ELEMENT_INT32, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32}
static const uint8_t INPUT_TYPES_BY_CACHE[3][INPUTS] = {INPUT_TYPES(ELEMENT_F32), INPUT_TYPES(ELEMENT_F16), INPUT_TYPES(ELEMENT_INT8)};
static const uint8_t OUTPUT_TYPES_BY_CACHE[3][3] = {{ELEMENT_F32, ELEMENT_F32, ELEMENT_F32}, {ELEMENT_F32, ELEMENT_F16, ELEMENT_F16}, {ELEMENT_F32, ELEMENT_INT8, ELEMENT_INT8}};

void describe_attention(Operator *op, int type) {
  static const char *const names[3] = {"Attention", "AttentionFloat16", "AttentionInt8"};
  *op = (Operator){.name = names[type], .inputs = INPUT_TYPES_BY_CACHE[type], .inputs_length = INPUTS, .required_inputs = 4,
                   .outputs = OUTPUT_TYPES_BY_CACHE[type], .outputs_length = 3, .kind = type};
  complete_operator(op, create, compute);
}
