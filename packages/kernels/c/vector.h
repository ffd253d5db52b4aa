// Sixteen floats at a time in the compiler's vector extensions: one register with AVX-512, two with AVX2, four with NEON.
// Every operation is defined lane by lane and every sum has one order, so all instruction sets give the same bits.
#pragma once
#include "base.h"

enum { LANES = 16 };

typedef float v16f __attribute__((vector_size(64)));
typedef int32_t v16i __attribute__((vector_size(64)));
typedef int16_t v16s __attribute__((vector_size(32)));
typedef int8_t v16c __attribute__((vector_size(16)));
typedef _Float16 v16h __attribute__((vector_size(32)));

// The same types where memory is only aligned to its elements.
typedef float v16f_memory __attribute__((vector_size(64), aligned(4), may_alias));
typedef int8_t v16c_memory __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t v16u_memory __attribute__((vector_size(16), aligned(1), may_alias));
typedef _Float16 v16h_memory __attribute__((vector_size(32), aligned(2), may_alias));

INLINE v16f splat(float x) { return (v16f){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
INLINE v16f load(const float *p) { return *(const v16f_memory *)p; }
INLINE void store(float *p, v16f x) { *(v16f_memory *)p = x; }
INLINE v16f load_half(const void *p) { return __builtin_convertvector(*(const v16h_memory *)p, v16f); }
INLINE v16f load_unsigned(const void *p) { return __builtin_convertvector(*(const v16u_memory *)p, v16f); }
INLINE v16f load_signed(const void *p) { return __builtin_convertvector(*(const v16c_memory *)p, v16f); }
/** Past the caches: for what no one reads soon. `p` is aligned to vectors. Call `finish_streams` behind the last one. */
INLINE void stream(float *p, v16f x) {
#if __has_builtin(__builtin_nontemporal_store)
  __builtin_nontemporal_store(x, (v16f *)p);
#else
  store(p, x);
#endif
}
/** Other threads see what was streamed before, as they see other stores. */
INLINE void finish_streams(void) {
#if defined(__x86_64__)
  __asm__ volatile("sfence" ::: "memory");
#endif
}
INLINE void store_half(void *p, v16f x) { *(v16h_memory *)p = __builtin_convertvector(x, v16h); }

INLINE v16f choose(v16i mask, v16f yes, v16f no) { return (v16f)(((v16i)yes & mask) | ((v16i)no & ~mask)); }
INLINE v16f largest(v16f a, v16f b) { return choose(a > b, a, b); }
INLINE v16f magnitude(v16f x) { return (v16f)((v16i)x & 0x7fffffff); }

/** The larger of two magnitudes by their bits, in which NaN is the largest: a block with a NaN has NaN for its scale. */
INLINE v16f larger_magnitude(v16f a, v16f b) {
  const v16i x = (v16i)a, y = (v16i)b;
  return (v16f)((x & (x > y)) | (y & ~(x > y)));
}

#if __has_builtin(__builtin_elementwise_fma)
INLINE v16f fma16(v16f a, v16f b, v16f c) { return __builtin_elementwise_fma(a, b, c); }
#else // GCC, which builds the tests with sanitisers
INLINE v16f fma16(v16f a, v16f b, v16f c) {
  for (int i = 0; i < LANES; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}
#endif

/** 1.5 * 2^23: adding and subtracting it rounds a magnitude below 2^22 to a whole number, half to even. */
#define ROUNDING 12582912.0f
INLINE v16f round_even(v16f x) { return (x + ROUNDING) - ROUNDING; }
/** The lowest 32 bits of the sum with `ROUNDING` are the rounded number, in two's complement behind the constant's bits. */
INLINE v16i round_to_int(v16f x) { return (v16i)(x + ROUNDING) - 0x4b400000; }

/** Halves of a vector put together lane by lane, again and again: a binary tree of one order everywhere. */
#define REDUCE(x, type8, type4, type2, JOIN) \
  type8 a8 = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7); \
  type8 b8 = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15); \
  a8 = JOIN(a8, b8); \
  type4 a4 = __builtin_shufflevector(a8, a8, 0, 1, 2, 3), b4 = __builtin_shufflevector(a8, a8, 4, 5, 6, 7); \
  a4 = JOIN(a4, b4); \
  type2 a2 = __builtin_shufflevector(a4, a4, 0, 1), b2 = __builtin_shufflevector(a4, a4, 2, 3); \
  a2 = JOIN(a2, b2);
#define ADD(a, b) ((a) + (b))
typedef float v8f __attribute__((vector_size(32)));
typedef float v4f __attribute__((vector_size(16)));
typedef float v2f __attribute__((vector_size(8)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef int32_t v4i __attribute__((vector_size(16)));
typedef int32_t v2i __attribute__((vector_size(8)));

/** Numbers of 8 bits with a largest magnitude below this are zero: 127 divided by it would be infinite. */
#define SMALLEST_PEAK 1e-36f

INLINE float sum_lanes(v16f x) {
  REDUCE(x, v8f, v4f, v2f, ADD)
  return a2[0] + a2[1];
}
/** The sums of eight vectors, each in the order of `sum_lanes`. */
INLINE v8f sum_eight(const v16f x[8]) {
  v16f a[4], b[2];
#pragma unroll
  for (int i = 0; i < 4; i++)
    a[i] = __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(x[i], x[i + 4], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
#pragma unroll
  for (int i = 0; i < 2; i++)
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(a[i], a[i + 2], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  // Lanes are now those of vectors 0, 4, 2, 6 and 1, 5, 3, 7, four of each.
  const v16f c = __builtin_shufflevector(b[0], b[1], 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
                 __builtin_shufflevector(b[0], b[1], 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
  return __builtin_shufflevector(c, c, 0, 8, 4, 12, 2, 10, 6, 14) + __builtin_shufflevector(c, c, 1, 9, 5, 13, 3, 11, 7, 15);
}
INLINE int32_t sum_int_lanes(v16i x) {
  REDUCE(x, v8i, v4i, v2i, ADD)
  // Inputs that are not finite have any codes; their sum may wrap.
  return (int32_t)((uint32_t)a2[0] + (uint32_t)a2[1]);
}
INLINE float max_lanes(v16f x) {
#define MAX_OF(type, a, b) ((typeof(a))(((type)(a) & ((a) > (b))) | ((type)(b) & ~((a) > (b)))))
  v8f a8 = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7), b8 = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  a8 = MAX_OF(v8i, a8, b8);
  v4f a4 = __builtin_shufflevector(a8, a8, 0, 1, 2, 3), b4 = __builtin_shufflevector(a8, a8, 4, 5, 6, 7);
  a4 = MAX_OF(v4i, a4, b4);
  float p = a4[0] > a4[1] ? a4[0] : a4[1], q = a4[2] > a4[3] ? a4[2] : a4[3];
  return p > q ? p : q;
#undef MAX_OF
}
/** For magnitudes, whose order is that of their bits, NaN above all. */
INLINE float max_magnitude(v16f x) {
#define MAX(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))
  v16i y = (v16i)x;
  REDUCE(y, v8i, v4i, v2i, MAX)
  int32_t bits = a2[0] > a2[1] ? a2[0] : a2[1];
  float result;
  __builtin_memcpy(&result, &bits, 4);
  return result;
#undef MAX
}

/** e^x, relative error below 2e-7. Below -87 the result is that of -87, 1.6e-38. */
INLINE v16f exp16(v16f x) {
  x = choose(x > -87.0f, x, splat(-87.0f));
  x = choose(x < 88.0f, x, splat(88.0f));
  // x = n ln 2 + r; ln 2 in two parts, so that the product with n is exact in the first.
  v16f n = round_even(x * 1.44269504f);
  v16f r = fma16(n, splat(-0.693359375f), x);
  r = fma16(n, splat(2.12194440e-4f), r);
  v16f p = splat(1.9875691500e-4f);
  p = fma16(p, r, splat(1.3981999507e-3f));
  p = fma16(p, r, splat(8.3334519073e-3f));
  p = fma16(p, r, splat(4.1665795894e-2f));
  p = fma16(p, r, splat(1.6666665459e-1f));
  p = fma16(p, r, splat(5.0000001201e-1f));
  p = fma16(p, r * r, r + 1.0f);
  v16i power = (round_to_int(n) + 127) << 23;
  return p * (v16f)power;
}

/** tanh(x) = 1 - 2 / (e^2x + 1). */
INLINE v16f tanh16(v16f x) {
  x = choose(x > -20.0f, x, splat(-20.0f));
  x = choose(x < 20.0f, x, splat(20.0f));
  return 1.0f - 2.0f / (exp16(x + x) + 1.0f);
}

INLINE v16f silu16(v16f x) { return x / (exp16(-x) + 1.0f); }

/** GELU with the approximation by tanh, as in Gemma. */
INLINE v16f gelu16(v16f x) {
  v16f cubic = x * x * x;
  return 0.5f * x * (tanh16((x + 0.044715f * cubic) * 0.79788456f) + 1.0f);
}
