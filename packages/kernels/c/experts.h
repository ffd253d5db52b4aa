// A mixture of experts: each row goes through the few of many small MLPs that its router's logits choose.
//
//   weights of a row = scores of its experts            y = sum of weight * down(activation(gate) * up) over them,
//   out = y + residual                                      or of weight * down(activation(up)) where they have no gates
//
// Rows are grouped by expert, so that the matrices of an expert are read once for all of its rows, and those that no row chose not at
// all. A pair is a row with one of its experts; its place is where it stands when pairs are sorted by expert, then by row. What a
// pair gives does not depend on its place, and a row adds its experts by their numbers: it has the same bits in any company.
#pragma once
#include "product.h"

typedef enum { SCORING_SOFTMAX = 0, SCORING_SIGMOID = 1, SCORING_COUNT = 2 } Scoring;

enum { MAX_EXPERTS = 1024, MAX_CHOSEN = 64 };

typedef struct {
  int count, chosen;
  Scoring scoring;
  /** Scores are divided by the sum of those that were chosen: with softmax and no bias it is then one over the chosen logits. */
  int is_normalised;
  /** Factor of the scores. */
  float scale;
  /**
   * 0: none. Else experts stand in groups of neighbours, of which `chosen_groups` are chosen first: those with the largest sum of
   * their `group_keys` largest keys, 1 or 2.
   */
  int groups, chosen_groups, group_keys;
  /** Null, or what is added to the scores to choose by. Shape: [count]. */
  const float *selection_bias;
  /** Products of the first expert, without rows. */
  Product up, down;
  /** From the tiles of an expert to those of the next. */
  size_t up_bytes, down_bytes;

  // Of a call.
  int rows;
  /** Shape: [rows, count]. */
  const float *logits;
  /** Null, or shape: [rows, inputs]. */
  const float *residual;
  /** Shape: [rows, inputs]. */
  float *out;

  // Working memory of a call.
  /** The experts of each row, by their numbers, and their weights. Shape: [rows, chosen]. */
  int32_t *experts;
  float *weights;
  /** The place of each of these pairs. Shape: [rows, chosen]. */
  int32_t *places;
  /** The row of each place. Shape: [rows * chosen]. */
  int32_t *rows_of_places;
  /** The first place of each expert, and those behind the last one. Shape: [count + 1]. */
  int32_t *first_places;
  /** Which of all fills of panels is the first of each expert, in the two products. Shape: [count + 1]. */
  int32_t *first_fills[2];
  /** Gated inner values by place. Shape: [places, inner]. */
  float *inner;
  /** Results by place. Shape: [places, inputs]. */
  float *results;
  /** Panels of the first product, then those of the second. */
  uint8_t *panels;
} Experts;

enum { UP = 0, DOWN = 1 };

INLINE const Product *expert_part(const Experts *e, int part) { return part == UP ? &e->up : &e->down; }
/** What a fill takes of a panel's memory, at most. */
INLINE size_t fill_bytes(const Product *p) { return panel_bytes(p->is_quantised, p->blocks, FEW_ROWS); }

/** Most fills of a product: each expert may have one that is not full. */
INLINE size_t most_fills(const Experts *e, const Product *p) {
  const size_t pairs = (size_t)e->rows * e->chosen, used = pairs < (size_t)e->count ? pairs : (size_t)e->count;
  return pairs / rows_per_fill(p) + used;
}

/** Divides working memory from `start` on, and gives what comes behind it. */
static inline uint8_t *lay_out_experts(Experts *e, uint8_t *start) {
  const size_t pairs = (size_t)e->rows * e->chosen, list = round_up(4 * pairs, 64), bounds = round_up(4 * ((size_t)e->count + 1), 64);
  uint8_t *p = start;
  e->experts = (int32_t *)p, p += list;
  e->weights = (float *)p, p += list;
  e->places = (int32_t *)p, p += list;
  e->rows_of_places = (int32_t *)p, p += list;
  e->first_places = (int32_t *)p, p += bounds;
  for (int part = UP; part <= DOWN; part++) e->first_fills[part] = (int32_t *)p, p += bounds;
  e->inner = (float *)p, p += round_up(4 * pairs * e->up.columns, 64);
  e->results = (float *)p, p += round_up(4 * pairs * e->down.columns, 64);
  e->panels = p;
  const size_t up = most_fills(e, &e->up) * fill_bytes(&e->up), down = most_fills(e, &e->down) * fill_bytes(&e->down);
  return p + (up > down ? up : down);
}

INLINE size_t experts_bytes(const Experts *e) {
  Experts laid = *e;
  uint8_t *const anywhere = (uint8_t *)64;
  return (size_t)(lay_out_experts(&laid, anywhere) - anywhere);
}

/** Sorts the pairs by expert. After all rows were routed. */
static inline void group_rows(const Experts *e) {
  const int pairs = e->rows * e->chosen;
  int32_t *first = e->first_places;
  for (int i = 0; i <= e->count; i++) first[i] = 0;
  for (int i = 0; i < pairs; i++) first[e->experts[i] + 1]++;
  for (int i = 0; i < e->count; i++) first[i + 1] += first[i];
  for (int i = 0; i < pairs; i++) {
    // The counts move to the ends of the experts, and back by one expert behind the loop.
    const int place = first[e->experts[i]]++;
    e->places[i] = place;
    e->rows_of_places[place] = i / e->chosen;
  }
  for (int i = e->count; i > 0; i--) first[i] = first[i - 1];
  first[0] = 0;
  for (int part = UP; part <= DOWN; part++) {
    const int most = rows_per_fill(expert_part(e, part));
    int32_t *fills = e->first_fills[part];
    fills[0] = 0;
    for (int i = 0; i < e->count; i++) fills[i + 1] = fills[i] + (first[i + 1] - first[i] + most - 1) / most;
  }
}

/** The expert that `index` belongs to, where `first` says at which each one begins. */
INLINE int expert_of(const int32_t *first, int count, int index) {
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (first[middle] <= index) low = middle;
    else high = middle;
  }
  return low;
}

/** One of the products of an expert on its rows. */
INLINE Product expert_product(const Experts *e, int part, int expert) {
  Product p = *expert_part(e, part);
  const int place = e->first_places[expert];
  p.rows = e->first_places[expert + 1] - place;
  p.parts[0].tiles += (part == UP ? e->up_bytes : e->down_bytes) * expert;
  p.panels = e->panels + fill_bytes(&p) * e->first_fills[part][expert];
  if (p.bias) p.bias += (size_t)p.parts[0].outputs * expert;
  if (part == UP) p.rows_of_x = e->rows_of_places + place;
  else p.x = e->inner + (size_t)place * p.inputs;
  p.out = (part == UP ? e->inner : e->results) + (size_t)place * p.columns;
  return p;
}
