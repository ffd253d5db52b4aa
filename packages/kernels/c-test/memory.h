// Random numbers, and buffers that end where their last byte ends: one byte too many ends the test.
#pragma once
#include "../c/isa.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Prints a message and ends the test as failed. */
#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

/** A generator of random bits: the same numbers on all machines. */
typedef struct { uint64_t state; } Random;

/** Whole numbers `from` to `to`. */
static inline int random_int(Random *random, int from, int to) {
  random->state = random->state * 6364136223846793005ull + 1442695040888963407ull;
  return from + (int)((random->state >> 33) % (uint64_t)(to - from + 1));
}
static inline int chance(Random *random, int percent) { return random_int(random, 1, 100) <= percent; }
/** -1 to 1, in steps of 2^-20. */
static inline float random_float(Random *random) { return (float)random_int(random, -(1 << 20), 1 << 20) / (float)(1 << 20); }

/** Memory of exactly so many bytes, aligned to 4 bytes and no more. It is filled with bytes that are no number in any type. */
void *new_buffer(size_t bytes);
void free_buffer(void *buffer);

static inline float *random_floats(Random *random, size_t count) {
  float *x = new_buffer(count * sizeof *x);
  for (size_t i = 0; i < count; i++) x[i] = random_float(random);
  return x;
}

/** A number for all bytes that a test computes, so that machines can be compared. */
extern uint64_t checksum;
static inline void add_to_checksum(const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) checksum = (checksum ^ ((const uint8_t *)bytes)[i]) * 1099511628211ull;
}

/** The instruction sets that this machine can test, the definition first. */
extern const Isa *tested[5];
extern int tested_count;

/** A random matrix in tiles. Outputs and inputs behind the last one are zero, as the builder leaves them. */
uint8_t *random_tiles(Random *random, Format format, int inputs, int outputs);
/** A product in random pieces. */
void multiply(const Isa *isa, Random random, const Product *p);

void test_product(Random *random);
void test_experts(Random *random);
void test_attention(Random *random);
void test_states(Random *random);
