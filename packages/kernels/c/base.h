// Types and macros that every file uses. The library is freestanding: no libc, no allocation of its own.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/** Rounds up to a multiple. */
INLINE size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

INLINE int min_int(int a, int b) { return a < b ? a : b; }
INLINE int max_int(int a, int b) { return a > b ? a : b; }
