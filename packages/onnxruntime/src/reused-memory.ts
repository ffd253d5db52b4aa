// Which buffers are fresh pages, of which only what is written takes memory.

/**
 * Once a process has freed a buffer of up to this many bytes, the C library of Linux takes further ones of that size from memory that was
 * freed before, which it clears and so touches as a whole. Larger ones are always fresh pages.
 * Source: glibc, malloc/malloc.c, `DEFAULT_MMAP_THRESHOLD_MAX`. Unit: bytes.
 */
export const LARGEST_REUSED_BYTES = 2 ** 25;
