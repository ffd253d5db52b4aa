// What products and attention should give, in double precision, from the descriptions in weights.h, panel.h and cache.h.
// Nothing of the functions under test is used.
#pragma once
#include "memory.h"
#include <math.h>

static inline double half_at(const uint8_t *p) {
  _Float16 half;
  memcpy(&half, p, 2);
  return (double)(float)half;
}

/** The number of a matrix [outputs, inputs] in tiles at `output` and `input`. */
static inline double weight_at(Format format, const uint8_t *tiles, int inputs, int output, int input) {
  static const int bits_of[FORMAT_COUNT] = {32, 4, 4, 5, 5, 6, 8, 4, 5, 6};
  const int bits = bits_of[format], has_minimum = format == FORMAT_Q4_MIN || format == FORMAT_Q5_MIN, is_super = format >= FORMAT_Q4_K;
  const size_t codes = (size_t)64 * bits, block = bits == 32 ? 2048 : codes + (has_minimum ? 64 : 32);
  const size_t blocks = (size_t)(inputs + 31) / 32, factors = !is_super ? 0 : bits == 6 ? 32 : 64;
  const uint8_t *tile = tiles + (size_t)(output / 16) * (blocks * block + (blocks + 7) / 8 * factors);
  const uint8_t *super = tile + (size_t)(input / 256) * (8 * block + factors);
  const uint8_t *p = super + factors + (size_t)(input / 32 % 8) * block;
  const int n = output % 16, k = input % 32, i = k % 4;
  if (bits == 32) {
    float value;
    memcpy(&value, p + (size_t)(k * 16 + n) * 4, 4);
    return value;
  }
  int code;
  if (bits == 8) code = p[64 * (k / 4) + 4 * n + i];
  else {
    code = p[64 * (k / 8) + 4 * n + i];
    code = k % 8 < 4 ? code & 15 : code >> 4;
    if (bits == 5) code += 16 * (p[256 + 4 * n + i] >> (k / 4) & 1);
    if (bits == 6) code += 16 * (p[256 + 64 * (k / 16) + 4 * n + i] >> (2 * (k / 4 % 4)) & 3);
  }
  if (is_super) {
    const double factor = half_at(super + 2 * n);
    if (bits == 6) return factor * (int8_t)p[codes + (size_t)(k / 16 * 16 + n)] * (code - 32);
    return factor * p[codes + (size_t)n] * code - half_at(super + 32 + 2 * n) * p[codes + 16 + (size_t)n];
  }
  const double scale = half_at(p + codes + 2 * n);
  if (has_minimum) return scale * code + half_at(p + codes + 32 + 2 * n);
  static const int offset_of[9] = {[4] = 8, [5] = 16, [6] = 32, [8] = 128};
  return scale * (code - offset_of[bits]);
}

/** x over the root of its mean square, times the weight. */
static inline void norm_of(const float *x, const float *weight, int count, double epsilon, double *out) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += (double)x[i] * x[i];
  for (int i = 0; i < count; i++) out[i] = x[i] / sqrt(sum / count + epsilon) * weight[i];
}

/** The clamped one is for gates. */
static inline Activation random_activation(Random *random, int is_gated) {
  const Activation activation = (Activation)random_int(random, 0, ACTIVATION_COUNT - 1);
  return activation == ACTIVATION_CLAMPED && !is_gated ? ACTIVATION_NONE : activation;
}

static inline double activation_of(Activation activation, double x) {
  if (activation == ACTIVATION_SILU) return x / (1 + exp(-x));
  if (activation == ACTIVATION_RELU2) return x > 0 ? x * x : 0;
  if (activation == ACTIVATION_GELU) return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  return x;
}

static inline double clamped_of(double gate, double up, double limit) {
  const double g = fmin(gate, limit), u = fmax(-limit, fmin(up, limit));
  return g / (1 + exp(-1.702 * g)) * (u + 1);
}

/** Ends the test where `found` is further from `expected` than `tolerance`, or no number. */
static inline void expect_near(const char *name, double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance)) FAIL("%s: %.9g, expected %.9g within %.3g", name, found, expected, tolerance);
}
