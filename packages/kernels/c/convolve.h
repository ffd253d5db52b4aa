// The convolution of some channels: see convolution.h.
#pragma once
#include "convolution.h"
#include "vector.h"

static void convolve_vector(const Convolution *c, int sequence, int channel) {
  const States *s = &c->states;
  const int kept = c->kernel - 1, channels = c->channels;
  const float *before = state_before(s, sequence);
  v16f weights[MAX_KERNEL], values[MAX_KERNEL];
  for (int i = 0; i <= kept; i++) weights[i] = load(c->weights + (size_t)i * channels + channel);
  for (int i = 0; i < kept; i++) values[i] = before ? load(before + (size_t)i * channels + channel) : splat(0);
  const v16f bias = c->bias ? load(c->bias + channel) : splat(0);
  const size_t first = (size_t)sequence * s->length;
  for (int t = 0; t < s->length; t++) {
    const float *x = c->x + (first + t) * c->columns + channel;
    values[kept] = c->is_gated ? load(x) * load(x + 2 * (size_t)channels) : load(x);
    v16f sum = bias;
    for (int i = 0; i <= kept; i++) sum = fma16(weights[i], values[i], sum);
    if (c->has_silu) sum = silu16(sum);
    if (c->is_gated) sum = load(x + channels) * sum;
    store(c->out + (first + t) * channels + channel, sum);
    for (int i = 0; i < kept; i++) values[i] = values[i + 1];
    float *behind = state_behind(s, sequence, t);
    if (!behind) continue;
    for (int i = 0; i < kept; i++) store(behind + (size_t)i * channels + channel, values[i]);
  }
}

/** `ITEM_CHANNELS` channels of a sequence from `channel` on, or those that are left. */
static void convolve(const Convolution *c, int sequence, int channel) {
  const int end = min_int(channel + ITEM_CHANNELS, c->channels);
  for (; channel < end; channel += LANES) convolve_vector(c, sequence, channel);
}
