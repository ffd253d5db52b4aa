// The parts of Mamba-2: see mamba.h.
#pragma once
#include "recurrent-parts.h"

static void prepare_mamba(const Mamba *m, int token) {
  const size_t first = (size_t)token * m->heads;
  const Forgetting f = {m->dt + first, m->step_bias, m->decay_log, m->heads, m->least_step, m->most_step};
  find_decays(&f, m->steps + first, m->decays + first);
}

/** A token's update of some columns of a state, and their products with C. */
typedef struct {
  const float *from;
  float *to;
  size_t from_step, to_step;
  int rows;
  float decay;
  const float *b, *c;
  v16f update[MAMBA_VECTORS], sums[MAMBA_VECTORS];
} MambaRows;

INLINE void scan_rows(MambaRows *r, const int vectors) {
  const float *from = r->from, *b = r->b, *c = r->c;
  float *to = r->to;
  const size_t from_step = r->from_step, to_step = r->to_step;
  const v16f decay = splat(r->decay), update0 = r->update[0], update1 = r->update[1];
  v16f sum0 = splat(0), sum1 = splat(0);
  for (int i = 0; i < r->rows; i++, from += from_step, to += to_step) {
    const v16f key = splat(b[i]), query = splat(c[i]);
    const v16f s0 = fma16(key, update0, decay * load(from));
    store(to, s0);
    sum0 = fma16(query, s0, sum0);
    if (vectors == 1) continue;
    const v16f s1 = fma16(key, update1, decay * load(from + LANES));
    store(to + LANES, s1);
    sum1 = fma16(query, s1, sum1);
  }
  r->sums[0] = sum0, r->sums[1] = sum1;
}

static __attribute__((noinline)) void scan_rows_1(MambaRows *r) { scan_rows(r, 1); }
static __attribute__((noinline)) void scan_rows_2(MambaRows *r) { scan_rows(r, 2); }

/** Columns `item` of a head, through all tokens of a sequence. */
static void scan_mamba(const Mamba *m, int sequence, int head, int item) {
  const States *s = &m->states;
  const int vectors = mamba_vectors(m), width = vectors * LANES, size = m->state_size;
  const size_t place = (size_t)head * size * m->head_size + (size_t)item * width;
  const size_t column = (size_t)head * m->head_size + (size_t)item * width;
  const size_t group = (size_t)(head / (m->heads / m->groups)) * size, queries = (size_t)m->groups * size;
  _Alignas(64) float memory[MAX_STATE_SIZE * MAMBA_VECTORS * LANES];
  const float *before = state_before(s, sequence);
  MambaRows r = {.from = before ? before + place : memory, .from_step = before ? (size_t)m->head_size : (size_t)width, .rows = size};
  if (!before)
    for (int i = 0; i < size * width; i += LANES) store(memory + i, splat(0));
  for (int t = 0; t < s->length; t++) {
    const size_t token = (size_t)sequence * s->length + t, entry = token * m->heads + head;
    const float *row = m->xbc + mamba_columns(m) * token, *x = row + column;
    float *behind = state_behind(s, sequence, t);
    // Only the last token may write to the pool while it computes: the next one reads what is near.
    const int is_last = t == s->length - 1 && behind;
    r.to = is_last ? behind + place : memory;
    r.to_step = is_last ? (size_t)m->head_size : (size_t)width;
    r.decay = m->decays[entry];
    r.b = row + mamba_width(m) + group;
    r.c = r.b + queries;
    for (int v = 0; v < vectors; v++) r.update[v] = m->steps[entry] * load(x + v * LANES);
    vectors == 1 ? scan_rows_1(&r) : scan_rows_2(&r);
    float *out = m->out + mamba_width(m) * token + column;
    for (int v = 0; v < vectors; v++) store(out + v * LANES, fma16(splat(m->skip[head]), load(x + v * LANES), r.sums[v]));
    r.from = memory, r.from_step = (size_t)width;
    if (!behind || is_last) continue;
    copy_state(behind + place, (size_t)m->head_size, memory, size, vectors);
  }
}

static void gate_mamba(const Mamba *m, int token) {
  const size_t width = mamba_width(m), size = width / (size_t)m->norm_groups;
  float *out = m->out + width * (size_t)token;
  const float *z = m->z + (size_t)token * m->z_columns + m->z_start;
  for (size_t at = 0; at < width; at += size)
    gated_norm(out + at, z + at, m->norm ? m->norm + at : 0, (int)size, m->epsilon, m->norm_place);
}
