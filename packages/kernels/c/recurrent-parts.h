// What recurrent layers have in common besides states: steps of time and how much they forget, and a norm with a gate.
#pragma once
#include "mamba.h"
#include "panel.h"

/** One copy of it for what is small. */
static __attribute__((noinline)) v16f exp_once(v16f x) { return exp16(x); }

/** ln(1 + e^x) = max(x, 0) + ln(1 + u), u = e^-|x|; ln(1 + u) = 2 artanh(u / (2 + u)), whose series converges fast below 1/3. */
INLINE v16f softplus16(v16f x) {
  const v16f u = exp_once(-magnitude(x)), s = u / (u + 2.0f), square = s * s;
  v16f p = splat(1.0f / 17);
#pragma clang loop unroll(disable)
  for (int i = 15; i > 0; i -= 2) p = fma16(p, square, splat(1.0f / (float)i));
  return largest(x, splat(0)) + 2.0f * s * p;
}

/** What makes the decay of each head of a token. */
typedef struct {
  /** Shape: [heads]. */
  const float *dt, *bias, *log;
  int heads;
  float least, most;
} Forgetting;

/** step = softplus(dt + bias) within its limits, decay = exp(-exp(log) * step). `steps` may be null. */
static __attribute__((noinline)) void find_decays(const Forgetting *f, float *steps, float *decays) {
  for (int i = 0; i < f->heads; i += LANES) {
    v16f step = softplus16(load_inputs(f->dt, i, f->heads) + load_inputs(f->bias, i, f->heads));
    step = choose(step < f->least, splat(f->least), step);
    step = choose(step > f->most, splat(f->most), step);
    float of_steps[LANES], of_decays[LANES];
    store(of_steps, step);
    store(of_decays, exp_once(-exp_once(load_inputs(f->log, i, f->heads)) * step));
    for (int j = 0; j < min_int(LANES, f->heads - i); j++) {
      decays[i + j] = of_decays[j];
      if (steps) steps[i + j] = of_steps[j];
    }
  }
}

static __attribute__((noinline)) void multiply_silu(float *out, const float *z, int size) {
  for (int i = 0; i < size; i += LANES) store(out + i, load(out + i) * silu16(load(z + i)));
}

/** Of `size` values in place, whole vectors. */
static __attribute__((noinline)) void gated_norm(float *out, const float *z, const float *weight, int size, float epsilon, NormPlace place) {
  if (place != NORM_BEFORE_GATE) multiply_silu(out, z, size);
  if (place == NORM_NONE) return;
  v16f sum = splat(0);
  for (int i = 0; i < size; i += LANES) sum = fma16(load(out + i), load(out + i), sum);
  const float factor = 1.0f / __builtin_sqrtf(sum_lanes(sum) / (float)size + epsilon);
  for (int i = 0; i < size; i += LANES) store(out + i, load(out + i) * factor * load(weight + i));
  if (place == NORM_BEFORE_GATE) multiply_silu(out, z, size);
}

/** Columns of a state, `vectors` of them, from where they were computed to the pool. */
static __attribute__((noinline)) void copy_state(float *to, size_t step, const float *from, int rows, int vectors) {
  for (int i = 0; i < rows; i++, to += step)
    for (int v = 0; v < vectors; v++, from += LANES) store(to + v * LANES, load(from));
}
