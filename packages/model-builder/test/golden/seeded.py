"""Seeded weights: `src/testing/seeded-weights.ts` in numpy, bit for bit."""

import math

import numpy as np

GOLDEN_RATIO = 0x9E3779B9
MASK = 0xFFFFFFFF


def hash_text(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode("utf-8"):
        value = ((value ^ byte) * 0x01000193) & MASK
    return value


def mix(x: np.ndarray) -> np.ndarray:
    """MurmurHash3's finaliser on 32-bit numbers held in uint64."""
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & MASK
    return x ^ (x >> 16)


def seeded_tensor(seed: int, name: str, shape: tuple, scale: float, offset: float) -> np.ndarray:
    base = (hash_text(name) + seed * GOLDEN_RATIO) & MASK
    index = np.arange(math.prod(shape), dtype=np.uint64)
    bits = mix((np.uint64(base) + index * np.uint64(GOLDEN_RATIO)) & np.uint64(MASK))
    uniform = ((bits >> np.uint64(8)).astype(np.float64) / 0x800000 - 1).astype(np.float32)
    return (np.float32(offset) + uniform * np.float32(scale)).astype(np.float32).reshape(shape)


def seeded_tokens(seed: int, count: int, limit: int) -> list:
    """Token ids below `limit`."""
    return [int(value) for value in mix(np.arange(count, dtype=np.uint64) + np.uint64(seed)) % limit]


def bit_sum(arrays) -> int:
    """Sum of the float32 bits as 32-bit numbers, modulo 2**32: equal only for equal weights."""
    total = 0
    for value in arrays:
        total += int(value.view(np.uint32).astype(np.uint64).sum())
    return total & MASK
