// The experts of a row, and what they give together.
#pragma once
#include "experts.h"

/** Chooses by the largest number, of equal ones the first. NaN is smaller than any number. Mutates: `keys`. Experts come out by their numbers. */
INLINE void choose_experts(float *keys, int count, int chosen, int32_t *experts) {
  for (int i = 0; i < chosen; i++) {
    int best = -1;
    for (int k = 0; k < count; k++)
      if (keys[k] > (best < 0 ? -__builtin_inff() : keys[best])) best = k;
    int at = i;
    // Where all that is left is NaN or minus infinity, the first expert that was not chosen.
    for (int k = 0; best < 0; k++) {
      int is_chosen = 0;
      for (int j = 0; j < i; j++) is_chosen |= experts[j] == k;
      if (!is_chosen) best = k;
    }
    keys[best] = -__builtin_inff();
    for (; at > 0 && experts[at - 1] > best; at--) experts[at] = experts[at - 1];
    experts[at] = best;
  }
}

/** Leaves out the experts of groups that are not chosen. Mutates: `keys`. */
INLINE void choose_groups(const Experts *e, float *keys) {
  const int size = e->count / e->groups;
  float sums[MAX_CHOSEN];
  int32_t chosen[MAX_CHOSEN];
  for (int g = 0; g < e->groups; g++) {
    float first = -__builtin_inff(), second = first;
    for (int i = g * size; i < (g + 1) * size; i++) {
      if (keys[i] > first) second = first, first = keys[i];
      else if (keys[i] > second) second = keys[i];
    }
    sums[g] = e->group_keys == 2 ? first + second : first;
  }
  choose_experts(sums, e->groups, e->chosen_groups, chosen);
  for (int g = 0, next = 0; g < e->groups; g++) {
    if (next < e->chosen_groups && chosen[next] == g) next++;
    else for (int i = g * size; i < (g + 1) * size; i++) keys[i] = -__builtin_inff();
  }
}

/** Scores of all experts, not yet divided by what is returned: the sum of all with softmax, one with sigmoids. */
INLINE float score_experts(const Experts *e, const float *logits, float *scores) {
  float peak = -__builtin_inff(), sum = 0;
  for (int i = 0; i < e->count; i++) peak = logits[i] > peak ? logits[i] : peak;
  for (int i = 0; i < e->count; i += LANES) {
    const v16f x = load_inputs(logits, i, e->count);
    store(scores + i, e->scoring == SCORING_SIGMOID ? 1.0f / (exp16(-x) + 1.0f) : exp16(x - peak));
  }
  if (e->scoring == SCORING_SIGMOID) return 1;
  for (int i = 0; i < e->count; i++) sum += scores[i];
  return sum;
}

/** Scores of the row's experts. Mutates: `experts` and `weights` at the row. */
static void route_row(const Experts *e, int row) {
  const float *logits = e->logits + (size_t)row * e->count;
  int32_t *experts = e->experts + (size_t)row * e->chosen;
  float *weights = e->weights + (size_t)row * e->chosen, scores[MAX_EXPERTS], keys[MAX_EXPERTS];
  const float total = score_experts(e, logits, scores);
  // NaN where a logit is no finite number, so that it shows.
  float fault = 0;
  for (int i = 0; i < e->count; i++) {
    fault += 0 * logits[i];
    // Without a bias in the order of the logits, so that scores which round to the same do not matter; sums are of scores.
    keys[i] = e->selection_bias ? scores[i] / total + e->selection_bias[i] : e->group_keys == 2 ? scores[i] / total : logits[i];
  }
  if (e->groups) choose_groups(e, keys);
  choose_experts(keys, e->count, e->chosen, experts);
  float sum = 0;
  for (int i = 0; i < e->chosen; i++) sum += weights[i] = scores[experts[i]];
  // So that scores that are all zero stay zero. Sources: transformers, models/glm4_moe and models/ernie4_5_moe
  if (!e->is_normalised) sum = total;
  else if (e->scoring == SCORING_SIGMOID) sum += 1e-20f;
  else if (sum < 1e-12f * total) sum = 1e-12f * total;
  for (int i = 0; i < e->chosen; i++) weights[i] = weights[i] / sum * e->scale + fault;
}

/** Adds what the experts of a row gave, by their numbers, to its residual. */
static void combine_row(const Experts *e, int row) {
  const int columns = e->down.columns;
  const int32_t *places = e->places + (size_t)row * e->chosen;
  const float *weights = e->weights + (size_t)row * e->chosen;
  for (int column = 0; column < columns; column += LANES) {
    const size_t at = (size_t)row * columns + column;
    const int count = min_int(LANES, columns - column);
    v16f sum = splat(0);
    for (int i = 0; i < e->chosen; i++) sum = fma16(splat(weights[i]), load_inputs(e->results + (size_t)places[i] * columns + column, 0, count), sum);
    if (e->residual) sum = sum + load_inputs(e->residual + at, 0, count);
    if (count == LANES) {
      store(e->out + at, sum);
    } else {
      float values[LANES];
      store(values, sum);
      for (int i = 0; i < count; i++) e->out[at + i] = values[i];
    }
  }
}
