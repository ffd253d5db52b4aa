// Recurrent layers of random shapes: convolutions, gated delta networks and Mamba-2, in calls of any length that read and write a pool.
#include "memory.h"
#include <math.h>

typedef enum { CONVOLUTION, DELTA, MAMBA } Kind;

/** One of the three, over its sequences: what a call of it needs. */
typedef struct {
  Kind kind;
  int tokens, state_size, columns;
  Convolution convolution;
  Delta delta;
  Mamba mamba;
  /** Of all tokens. Shape: [tokens, ..]. */
  float *x, *gates, *z;
} Layer;

static void *part(const float *all, size_t columns, int from, int count) {
  float *x = new_buffer(count * columns * 4);
  return memcpy(x, all + from * columns, count * columns * 4);
}

static void compute_mamba(const FloatFunctions *f, const Layer *l, int from, States states, float *out) {
  const int count = states.batch * states.length;
  Mamba m = l->mamba;
  float *xbc = part(l->x, mamba_columns(&m), from, count), *dt = part(l->gates, (size_t)m.heads, from, count);
  float *z = part(l->z, (size_t)m.z_columns, from, count);
  m.states = states, m.xbc = xbc, m.dt = dt, m.z = z, m.out = out;
  m.decays = new_buffer((size_t)count * m.heads * 4), m.steps = new_buffer((size_t)count * m.heads * 4);
  for (int t = 0; t < count; t++) f->prepare_mamba(&m, t);
  for (int head = 0; head < m.heads; head++)
    for (int item = 0; item < mamba_items(&m); item++) f->scan_mamba(&m, 0, head, item);
  for (int t = 0; t < count; t++) f->gate_mamba(&m, t);
  free_buffer(m.decays), free_buffer(m.steps), free_buffer(xbc), free_buffer(dt), free_buffer(z);
}

static void compute(const Isa *isa, const Layer *l, int from, States states, float *out) {
  const FloatFunctions *f = isa->floats;
  // Exactly the tokens of the call.
  const int count = states.batch * states.length;
  if (l->kind == MAMBA) {
    compute_mamba(f, l, from, states, out);
    return;
  }
  if (l->kind == CONVOLUTION) {
    Convolution c = l->convolution;
    c.states = states;
    float *x = part(l->x, (size_t)c.columns, from, count);
    c.x = x, c.out = out;
    for (int channel = 0; channel < c.channels; channel += ITEM_CHANNELS) f->convolve(&c, 0, channel);
    free_buffer(x);
    return;
  }
  Delta d = l->delta;
  const size_t columns = delta_columns(&d), heads = (size_t)d.value_heads;
  float *x = part(l->x, columns, from, count), *gates = part(l->gates, 2 * heads, from, count);
  float *z = part(l->z, (size_t)d.z_columns, from, count);
  d.states = states, d.qkv = x, d.gates = gates, d.z = z, d.out = out;
  const size_t keys = (size_t)count * d.key_heads * d.key_size * 4;
  d.queries = new_buffer(keys), d.keys = new_buffer(keys), d.products = new_buffer((size_t)count * d.key_heads * 4);
  d.decays = new_buffer(count * heads * 4), d.betas = new_buffer(count * heads * 4);
  for (int t = 0; t < count; t++) f->prepare_delta(&d, t);
  for (int head = 0; head < d.value_heads; head++)
    for (int item = 0; item < delta_items(&d); item++) f->recur_delta(&d, 0, head, item);
  for (int t = 0; t < count; t++) f->gate_delta(&d, t);
  free_buffer(d.queries), free_buffer(d.keys), free_buffer(d.products), free_buffer(d.decays), free_buffer(d.betas);
  free_buffer(x), free_buffer(gates), free_buffer(z);
}

/** The tokens in calls of random lengths, whose last states take turns; other states are kept on the way. Gives the last state's entry. */
static int compute_chunks(const Isa *isa, Random random, const Layer *l, int is_whole, float *pool, float *out) {
  enum { ENTRIES = 3 };
  int read = -1;
  for (int from = 0, length; from < l->tokens; from += length) {
    length = is_whole ? l->tokens : random_int(&random, 1, l->tokens - from);
    int32_t *reads = new_buffer(4), *writes = new_buffer((size_t)length * 4);
    for (int t = 0; t < length; t++) writes[t] = -1;
    if (length > 1 && !is_whole) writes[random_int(&random, 0, length - 2)] = 2;
    reads[0] = read;
    read = writes[length - 1] = read == 0 ? 1 : 0;
    float *results = new_buffer((size_t)length * l->columns * 4);
    compute(isa, l, from, (States){1, length, ENTRIES, reads, writes, pool, (size_t)l->state_size}, results);
    memcpy(out + (size_t)from * l->columns, results, (size_t)length * l->columns * 4);
    free_buffer(results), free_buffer(reads), free_buffer(writes);
  }
  return read;
}

static void random_mamba(Random *random, Layer *l) {
  Mamba m = {.groups = random_int(random, 1, 3), .head_size = 16 * random_int(random, 1, 5), .state_size = 16 * random_int(random, 1, 5), .epsilon = 1e-6f};
  m.heads = m.groups * random_int(random, 1, 8);
  if (chance(random, 5)) m.state_size = MAX_STATE_SIZE;
  m.norm_place = (NormPlace)random_int(random, NORM_NONE, NORM_BEHIND_GATE);
  m.norm_groups = chance(random, 50) ? m.groups : 1;
  m.least_step = chance(random, 50) ? 0 : 0.5f;
  m.most_step = chance(random, 50) ? INFINITY : 1;
  const size_t width = mamba_width(&m);
  m.z_start = random_int(random, 0, 20);
  m.z_columns = m.z_start + (int)width + random_int(random, 0, 3);
  m.decay_log = random_floats(random, (size_t)m.heads);
  m.step_bias = random_floats(random, (size_t)m.heads);
  m.skip = random_floats(random, (size_t)m.heads);
  m.norm = m.norm_place == NORM_NONE ? 0 : random_floats(random, width);
  l->x = random_floats(random, (size_t)l->tokens * mamba_columns(&m));
  l->gates = random_floats(random, (size_t)l->tokens * m.heads);
  l->z = random_floats(random, (size_t)l->tokens * m.z_columns);
  l->state_size = m.heads * m.state_size * m.head_size;
  l->columns = (int)width;
  l->mamba = m;
}

static Layer random_layer(Random *random) {
  Layer l = {.kind = (Kind)random_int(random, CONVOLUTION, MAMBA), .tokens = random_int(random, 1, 12)};
  if (l.kind == MAMBA) {
    random_mamba(random, &l);
    return l;
  }
  if (l.kind == CONVOLUTION) {
    Convolution c = {.channels = 16 * random_int(random, 1, 9), .kernel = random_int(random, 2, MAX_KERNEL), .is_gated = chance(random, 50)};
    c.has_silu = !c.is_gated;
    c.columns = c.channels * (c.is_gated ? 3 : 1) + random_int(random, 0, 5);
    c.weights = random_floats(random, (size_t)c.kernel * c.channels);
    c.bias = chance(random, 50) ? random_floats(random, (size_t)c.channels) : 0;
    l.x = random_floats(random, (size_t)l.tokens * c.columns);
    l.state_size = (c.kernel - 1) * c.channels;
    l.columns = c.channels;
    l.convolution = c;
    return l;
  }
  Delta d = {.key_heads = random_int(random, 1, 3), .key_size = 16 * random_int(random, 1, 4), .value_size = 16 * random_int(random, 1, 4), .epsilon = 1e-6f};
  d.value_heads = d.key_heads * random_int(random, 1, 3);
  d.keys_in_turns = random_int(random, 0, 1);
  if (chance(random, 5)) d.key_size = MAX_KEY_SIZE;
  const size_t values = (size_t)d.value_heads * d.value_size;
  d.z_start = random_int(random, 0, 20);
  d.z_columns = d.z_start + (int)values + random_int(random, 0, 3);
  d.decay_log = random_floats(random, (size_t)d.value_heads);
  d.decay_bias = random_floats(random, (size_t)d.value_heads);
  d.norm = random_floats(random, (size_t)d.value_size);
  l.x = random_floats(random, (size_t)l.tokens * delta_columns(&d));
  l.gates = random_floats(random, (size_t)l.tokens * 2 * d.value_heads);
  l.z = random_floats(random, (size_t)l.tokens * d.z_columns);
  l.state_size = d.value_heads * d.key_size * d.value_size;
  l.columns = (int)values;
  l.delta = d;
  return l;
}

void test_states(Random *random) {
  const Layer l = random_layer(random);
  const size_t results = (size_t)l.tokens * l.columns, state = (size_t)l.state_size * 4;
  float *expected = new_buffer(results * 4), *found = new_buffer(results * 4), *pool = new_buffer(3 * state), *other = new_buffer(3 * state);
  const int last = compute_chunks(tested[0], *random, &l, 1, pool, expected);
  for (size_t i = 0; i < results; i++)
    if (!isfinite(expected[i])) FAIL("a result is not finite");
  for (int i = 0; i < tested_count; i++)
    for (int is_whole = 0; is_whole < 2; is_whole++) {
      const int entry = compute_chunks(tested[i], *random, &l, is_whole, other, found);
      if (memcmp(found, expected, results * 4)) FAIL("%s: results differ from those of the definition, whole %d, kind %d", tested[i]->name, is_whole, l.kind);
      if (memcmp((uint8_t *)other + entry * state, (uint8_t *)pool + last * state, state)) FAIL("%s: states differ, whole %d", tested[i]->name, is_whole);
    }
  add_to_checksum(expected, results * 4);
  free_buffer(expected), free_buffer(found), free_buffer(pool), free_buffer(other), free_buffer(l.x), free_buffer(l.gates), free_buffer(l.z);
  free_buffer((void *)l.convolution.weights), free_buffer((void *)l.convolution.bias);
  free_buffer((void *)l.delta.decay_log), free_buffer((void *)l.delta.decay_bias), free_buffer((void *)l.delta.norm);
  free_buffer((void *)l.mamba.decay_log), free_buffer((void *)l.mamba.step_bias), free_buffer((void *)l.mamba.skip), free_buffer((void *)l.mamba.norm);
}
