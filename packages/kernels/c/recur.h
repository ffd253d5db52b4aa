// The parts of gated DeltaNet: see delta.h.
#pragma once
#include "delta.h"
#include "recurrent-parts.h"
#include "panel.h"

/** Scales to length 1 times `scale`. */
static void unit_vector(float *to, const float *from, int size, float scale) {
  v16f sum = splat(0);
  for (int i = 0; i < size; i += LANES) sum = fma16(load(from + i), load(from + i), sum);
  const float factor = scale / __builtin_sqrtf(sum_lanes(sum) + 1e-6f);
  for (int i = 0; i < size; i += LANES) store(to + i, load(from + i) * factor);
}

static void prepare_delta(const Delta *d, int token) {
  const float *qkv = d->qkv + delta_columns(d) * (size_t)token, *gates = d->gates + (size_t)token * 2 * d->value_heads;
  const int size = d->key_size;
  const float scale = 1.0f / __builtin_sqrtf((float)size);
  for (int head = 0; head < d->key_heads; head++) {
    const size_t at = ((size_t)token * d->key_heads + head) * size;
    unit_vector(d->queries + at, qkv + (size_t)head * size, size, scale);
    unit_vector(d->keys + at, qkv + (size_t)(d->key_heads + head) * size, size, 1);
    v16f sum = splat(0);
    for (int i = 0; i < size; i += LANES) sum = fma16(load(d->queries + at + i), load(d->keys + at + i), sum);
    d->products[(size_t)token * d->key_heads + head] = sum_lanes(sum);
  }
  const size_t first = (size_t)token * d->value_heads;
  const Forgetting f = {gates + d->value_heads, d->decay_bias, d->decay_log, d->value_heads, 0, __builtin_inff()};
  find_decays(&f, 0, d->decays + first);
  for (int i = 0; i < d->value_heads; i += LANES) {
    float betas[LANES];
    store(betas, 1.0f / (exp_once(-load_inputs(gates, i, d->value_heads)) + 1.0f));
    for (int j = 0; j < min_int(LANES, d->value_heads - i); j++) d->betas[first + i + j] = betas[j];
  }
}

/** How far ahead of its loop a state is fetched. */
enum { AHEAD_ROWS = 16 };

/** A token's update of some columns, and the products of the next token with the result. */
typedef struct {
  const float *from;
  float *to;
  size_t from_step, to_step;
  /** Of the second vector of columns behind the first one; 0: there is none, and the first one is computed twice. */
  size_t second;
  int rows;
  /** Where the next work item begins, whose rows are as far apart: fetched while this one's state is read from memory. Null: nowhere. */
  const float *next_item;
  float decay;
  const float *key, *next_key, *next_query;
  v16f update[ITEM_VECTORS], key_sums[ITEM_VECTORS], query_sums[ITEM_VECTORS];
} DeltaRows;

INLINE void pass_rows(DeltaRows *r, const int updates, const int sums) {
  const float *from = r->from, *key = r->key, *next_key = r->next_key, *next_query = r->next_query;
  float *to = r->to;
  const size_t from_step = r->from_step, to_step = r->to_step, second = r->second;
  const v16f decay = splat(r->decay), update0 = r->update[0], update1 = r->update[1];
  v16f keys0 = splat(0), keys1 = splat(0), queries0 = splat(0), queries1 = splat(0);
  const float *ahead = updates ? 0 : r->next_item;
  // A state that is written to the pool is read in the next step, behind all weights. Steps are whole vectors.
  const int streams = updates && !sums && second && (size_t)to % sizeof(v16f) == 0;
  for (int i = 0; i < r->rows; i++, from += from_step, to += updates ? to_step : 0) {
    if (ahead) {
      const float *row = i + AHEAD_ROWS < r->rows ? from + AHEAD_ROWS * from_step : ahead + (size_t)(i + AHEAD_ROWS - r->rows) * from_step;
      __builtin_prefetch(row), __builtin_prefetch(row + second);
    }
    v16f s0 = load(from), s1 = load(from + second);
    if (updates) {
      const v16f k = splat(key[i]);
      s0 = fma16(k, update0, decay * s0);
      s1 = fma16(k, update1, decay * s1);
      if (streams) stream(to, s0), stream(to + second, s1);
      else store(to, s0), store(to + second, s1);
    }
    if (!sums) continue;
    const v16f k = splat(next_key[i]), q = splat(next_query[i]);
    keys0 = fma16(k, s0, keys0), keys1 = fma16(k, s1, keys1);
    queries0 = fma16(q, s0, queries0), queries1 = fma16(q, s1, queries1);
  }
  r->key_sums[0] = keys0, r->query_sums[0] = queries0;
  r->key_sums[1] = keys1, r->query_sums[1] = queries1;
}

static __attribute__((noinline)) void sum_rows(DeltaRows *r) { pass_rows(r, 0, 1); }
static __attribute__((noinline)) void update_rows(DeltaRows *r) { pass_rows(r, 1, 0); }
static __attribute__((noinline)) void update_and_sum_rows(DeltaRows *r) { pass_rows(r, 1, 1); }

/** Columns `item` of a head of values, through all tokens of a sequence. */
static void recur_delta(const Delta *d, int sequence, int head, int item) {
  const States *s = &d->states;
  const int vectors = delta_vectors(d), width = vectors * LANES, size = d->key_size;
  const int key_head = d->keys_in_turns ? head % d->key_heads : head / (d->value_heads / d->key_heads);
  const size_t place = (size_t)head * size * d->value_size + (size_t)item * width;
  const size_t value_column = (size_t)2 * d->key_heads * size + (size_t)head * d->value_size + (size_t)item * width;
  _Alignas(64) float memory[MAX_KEY_SIZE * ITEM_VECTORS * LANES];
  const float *before = state_before(s, sequence);
  DeltaRows r = {.from = before ? before + place : memory, .from_step = before ? (size_t)d->value_size : (size_t)width, .second = vectors > 1 ? LANES : 0, .rows = size};
  if (before) r.next_item = r.from + (item + 1 < delta_items(d) ? (size_t)width : (size_t)size * d->value_size - (size_t)item * width);
  if (!before)
    for (int i = 0; i < size * width; i += LANES) store(memory + i, splat(0));
  for (int t = 0; t < s->length; t++) {
    const size_t token = (size_t)sequence * s->length + t, key_at = (token * d->key_heads + key_head) * size;
    if (t == 0) {
      r.next_key = d->keys + key_at, r.next_query = d->queries + key_at;
      sum_rows(&r);
    }
    const float *values = d->qkv + delta_columns(d) * token + value_column, product = d->products[token * d->key_heads + key_head];
    const float beta = d->betas[token * d->value_heads + head];
    float *out = d->out + (token * d->value_heads + head) * d->value_size + (size_t)item * width;
    r.decay = d->decays[token * d->value_heads + head];
    r.key = d->keys + key_at;
    for (int v = 0; v < ITEM_VECTORS; v++) {
      r.update[v] = beta * fma16(splat(-r.decay), r.key_sums[v], load(values + v * r.second));
      store(out + v * r.second, fma16(splat(product), r.update[v], r.decay * r.query_sums[v]));
    }
    float *behind = state_behind(s, sequence, t);
    if (t == s->length - 1) {
      if (!behind) return;
      r.to = behind + place, r.to_step = (size_t)d->value_size;
      update_rows(&r);
      finish_streams();
      return;
    }
    r.to = memory, r.to_step = (size_t)width;
    r.next_key = r.key + (size_t)d->key_heads * size, r.next_query = d->queries + key_at + (size_t)d->key_heads * size;
    update_and_sum_rows(&r);
    r.from = memory, r.from_step = (size_t)width;
    if (!behind) continue;
    copy_state(behind + place, (size_t)d->value_size, memory, size, vectors);
  }
}

/** The norm of each head and its gate. Mutates: the results of the token. */
static void gate_delta(const Delta *d, int token) {
  const int size = d->value_size;
  float *out = d->out + (size_t)token * d->value_heads * size;
  const float *z = d->z + (size_t)token * d->z_columns + d->z_start;
  for (int head = 0; head < d->value_heads; head++, out += size, z += size)
    gated_norm(out, z, d->norm, size, d->epsilon, NORM_BEFORE_GATE);
}
