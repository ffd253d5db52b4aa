// States of recurrent layers, in a pool of entries. A call reads the state before its first token in one entry and writes those behind
// chosen tokens to others: nothing changes in place, so that sequences share entries, and a failed call or a rejected draft loses none.
#pragma once
#include "base.h"

typedef struct {
  int batch, length, entries;
  /** The entry with the state before the first token; -1: the token is the first of its sequence. Shape: [batch]. */
  const int32_t *reads;
  /** The entry that keeps the state behind a token; -1: none. Shape: [batch, length]. */
  const int32_t *writes;
  /** Shape: [entries, size]. */
  float *pool;
  size_t size;
} States;

/** Null: all zero. */
INLINE const float *state_before(const States *s, int sequence) {
  return s->reads[sequence] < 0 ? 0 : s->pool + s->size * (size_t)s->reads[sequence];
}
/** Null: not kept. */
INLINE float *state_behind(const States *s, int sequence, int t) {
  const int entry = s->writes[(size_t)sequence * s->length + t];
  return entry < 0 ? 0 : s->pool + s->size * (size_t)entry;
}
