// The key and value cache of one layer: [sequences, heads of keys, capacity, row], in float32, float16 or int8.
//
//   keys    16 tokens side by side: [capacity / 16][channels][16]; in int8 then 16 scales in float32
//   values  a token after the other: [capacity][channels];         in int8 then its scale in float32
//
// `channels` is the head size, rounded up to whole vectors; what is added is zero in values and never read in keys.
// An int8 number is scale * code, the scale being the largest magnitude of the token and head over 127.
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
INLINE size_t value_row_bytes(CacheType type, int head_size) {
  return cache_row(type, head_size) * cache_element_bytes(type);
}

/** Sixteen numbers of the cache without their scale. */
INLINE v16f load_cache(CacheType type, const uint8_t *p) {
  switch (type) {
    case CACHE_F32: return load((const float *)p);
    case CACHE_F16: return load_half(p);
    default: return load_codes((const int8_t *)p);
  }
}
