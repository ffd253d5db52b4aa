// The inputs and outputs for states that operators of recurrent layers have in common: see states.h.
#pragma once
#include "ort.h"
#include "states.h"

/** Indices of the inputs, and of the output that is the pool again. */
typedef struct { size_t pool, reads, writes, out; } StatePlaces;

/** `s` has its batch, length and size. */
static Status read_states(Api api, Context *context, StatePlaces at, States *s) {
  const Tensor pool = input(api, context, at.pool), reads = input(api, context, at.reads), writes = input(api, context, at.writes);
  if (!pool.data || pool.rank < 1 || pool.shape[0] > 0x7fffffff || element_count(&pool) != pool.shape[0] * (int64_t)s->size)
    return fail(api, ORT_INVALID_ARGUMENT, "The pool of states must be [entries, ..] with entries of the layer's size.");
  if (!reads.data || element_count(&reads) != s->batch)
    return fail(api, ORT_INVALID_ARGUMENT, "The states to read must be [batch].");
  const int64_t count = (int64_t)s->batch * s->length;
  if (!writes.data || element_count(&writes) != count)
    return fail(api, ORT_INVALID_ARGUMENT, "The states to write must be [batch, length].");
  s->entries = (int)pool.shape[0];
  s->reads = reads.data;
  s->writes = writes.data;
  for (int b = 0; b < s->batch; b++)
    if (s->reads[b] < -1 || s->reads[b] >= s->entries) return fail(api, ORT_INVALID_ARGUMENT, "A state to read lies outside the pool.");
  for (int64_t i = 0; i < count; i++) {
    if (s->writes[i] == -1) continue;
    if (s->writes[i] < 0 || s->writes[i] >= s->entries) return fail(api, ORT_INVALID_ARGUMENT, "A state to write lies outside the pool.");
    for (int b = 0; b < s->batch; b++)
      if (s->reads[b] == s->writes[i]) return fail(api, ORT_INVALID_ARGUMENT, "A state is read and written by one call.");
    for (int64_t j = 0; j < i; j++)
      if (s->writes[j] == s->writes[i]) return fail(api, ORT_INVALID_ARGUMENT, "A state is written twice by one call.");
  }
  s->pool = output(api, context, at.out, pool.shape, pool.rank);
  if (s->pool != pool.data) return fail(api, ORT_INVALID_ARGUMENT, "Past and present states must be the same memory.");
  return 0;
}
