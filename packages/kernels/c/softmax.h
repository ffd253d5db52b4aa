// From scores to weights: soft cap, mask, exponential; with an int8 cache also the rounding of weights.
#pragma once
#include "work.h"

#define MASKED -3.402823466e38f

/** Scores of one row become weights. Gives the largest score and the sum of weights. */
static void weigh_scores(const Work *w, int row, float *scores, float *peaks, float *sums) {
  const float softcap = w->attention->softcap;
  const v16i lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  v16f most = splat(MASKED), sum = splat(0);
  for (int k = w->first; k < w->end; k += GROUP) {
    v16f score = load(scores + k);
    if (softcap > 0) score = softcap * tanh16(score / softcap);
    const v16i index = lanes + (w->from + k);
    const v16i is_seen = (index >= w->limits->first[row]) & (index < w->limits->end[row]);
    score = choose(is_seen, score, splat(MASKED));
    most = largest(most, score);
    store(scores + k, score);
  }
  const float peak = max_lanes(most);
  for (int k = w->first; k < w->end; k += GROUP) {
    const v16f score = load(scores + k);
    const v16f weight = choose(score > MASKED, exp16(score - peak), splat(0));
    sum = sum + weight;
    store(scores + k, weight);
  }
  peaks[row] = peak;
  sums[row] = sum_lanes(sum);
}

/** A row that only fills its block gets no weights, of either kind. */
static void clear_row(Scores *s, int row) {
  for (int k = 0; k < PIECE; k += GROUP) {
    store(&s->rows[row][k], splat(0));
    *(v16c_memory *)&s->codes[row][k] = (v16c){0};
    s->scales[row][k / GROUP] = 0;
  }
}

/**
 * Weights times the scales of int8 values, in codes of 0 to 127 with a scale for each group of 16 keys: a key with most of the
 * weight leaves those of other groups their accuracy.
 */
static void round_weights(const Work *w, Scores *s) {
  const int channels = cache_channels(w->attention->head_size);
  const size_t group_bytes = key_group_bytes(CACHE_INT8, channels);
  for (int k = w->first; k < w->end; k += GROUP) {
    const uint8_t *group = w->values + (size_t)(k / GROUP) * group_bytes;
    const v16f scales = load((const float *)(group + (size_t)GROUP * channels));
    for (int r = 0; r < w->used; r++) {
      const v16f weight = load(&s->rows[r][k]);
      // A key without weight may be behind the last token, where a scale is any number.
      const v16f x = choose(weight > 0, weight * scales, splat(0));
      const float peak = max_magnitude(x);
      const v16i codes = round_to_int(x * (peak > SMALLEST_PEAK ? 127.0f / peak : 0));
      *(v16c_memory *)&s->codes[r][k] = __builtin_convertvector(codes, v16c);
      s->scales[r][k / GROUP] = peak * (1 / 127.0f);
    }
  }
}
