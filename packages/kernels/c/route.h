// The experts of a row, and what they give together.
#pragma once
#include "experts.h"

INLINE float sigmoid_of(float x) { return 1.0f / (exp16(splat(-x))[0] + 1.0f); }

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

/** Scores of the row's experts. Mutates: `experts` and `weights` at the row. */
static void route_row(const Experts *e, int row) {
  const float *logits = e->logits + (size_t)row * e->count;
  int32_t *experts = e->experts + (size_t)row * e->chosen;
  float *weights = e->weights + (size_t)row * e->chosen, keys[MAX_EXPERTS];
  // NaN where a logit is no finite number, so that it shows.
  float fault = 0;
  for (int i = 0; i < e->count; i++) {
    fault += 0 * logits[i];
    // A softmax has the order of its logits.
    keys[i] = e->scoring == SCORING_SIGMOID ? sigmoid_of(logits[i]) : logits[i];
    if (e->selection_bias) keys[i] += e->selection_bias[i];
  }
  choose_experts(keys, e->count, e->chosen, experts);
  float sum = 0;
  if (e->scoring == SCORING_SIGMOID) {
    for (int i = 0; i < e->chosen; i++) sum += weights[i] = sigmoid_of(logits[experts[i]]);
    // So that scores that are all zero stay zero.
    sum += 1e-20f;
    if (!e->is_normalised) sum = 1;
  } else {
    float peak = -__builtin_inff();
    for (int i = 0; i < e->count; i++) peak = logits[i] > peak ? logits[i] : peak;
    for (int i = 0; i < e->chosen; i++) weights[i] = exp16(splat(logits[experts[i]] - peak))[0];
    if (e->is_normalised) {
      for (int i = 0; i < e->chosen; i++) sum += weights[i];
    } else {
      for (int i = 0; i < e->count; i++) sum += exp16(splat(logits[i] - peak))[0];
    }
  }
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
