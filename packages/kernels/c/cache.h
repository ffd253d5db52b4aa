// The key and value cache of one layer: [sequences, heads of keys, capacity, row], in float32, float16 or int8.
//
//   float32, float16   keys    16 tokens side by side: [capacity / 16][channels][16]
//                      values  a token after the other: [capacity][channels]
//   int8               keys    groups of 16 tokens: [channels / 4][16][4] codes, 128 added; then 16 scales in float32
//                      values  groups of 16 tokens: [16 / 4][channels][4 tokens] codes; then 16 scales in float32
//
// `channels` is the head size, rounded up to whole vectors. What is added is zero in values and in an int8 cache's keys; in others
// it is never read. An int8 number is scale * code, the scale being the largest magnitude of the token and head over 127. Four
// neighbouring codes are what an instruction multiplies and adds up: four channels of a key, one channel of four values.
#pragma once
#include "vector.h"

typedef enum { CACHE_F32 = 0, CACHE_F16 = 1, CACHE_INT8 = 2 } CacheType;

enum { GROUP = LANES };

INLINE int cache_channels(int head_size) { return (int)round_up((size_t)head_size, LANES); }
/** Elements of a row of the cache's last dimension. */
INLINE int cache_row(CacheType type, int head_size) { return cache_channels(head_size) + (type == CACHE_INT8 ? 4 : 0); }
INLINE size_t cache_element_bytes(CacheType type) { return type == CACHE_F32 ? 4 : type == CACHE_F16 ? 2 : 1; }
INLINE size_t key_group_bytes(CacheType type, int head_size) {
  return GROUP * cache_row(type, head_size) * cache_element_bytes(type);
}
/** Of one token; in int8 a sixteenth of a group. */
INLINE size_t value_row_bytes(CacheType type, int head_size) {
  return cache_row(type, head_size) * cache_element_bytes(type);
}

/** Sixteen numbers of a cache in float32 or float16. */
INLINE v16f load_cache(CacheType type, const uint8_t *p) {
  return type == CACHE_F32 ? load((const float *)p) : load_half(p);
}
