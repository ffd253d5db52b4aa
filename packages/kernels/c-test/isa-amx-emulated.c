// The code for AMX with its matrix unit in plain C, so that machines without it run it, and sanitisers see what it reads.
#include "../c/vector.h"
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

/** The rows of eight registers, with a shape each. */
static __thread uint8_t registers[8][16][64];
static __thread uint16_t row_bytes[8];
static __thread uint8_t rows[8];

static void load_config(const void *config) {
  const uint8_t *p = config;
  if (p[0] != 1) abort();
  for (int i = 0; i < 8; i++) {
    memcpy(&row_bytes[i], p + 16 + 2 * i, 2);
    rows[i] = p[48 + i];
    if (row_bytes[i] > 64 || rows[i] > 16) abort();
  }
  memset(registers, 0, sizeof registers);
}
static void release(void) { memset(rows, 0, sizeof rows); }
static void load_tile(int to, const void *base, size_t stride) {
  memset(registers[to], 0, sizeof registers[to]);
  if (rows[to] == 0) abort();
  for (int r = 0; r < rows[to]; r++) memcpy(registers[to][r], (const uint8_t *)base + r * stride, row_bytes[to]);
}
static void store_tile(int from, void *base, size_t stride) {
  if (rows[from] == 0) abort();
  for (int r = 0; r < rows[from]; r++) memcpy((uint8_t *)base + r * stride, registers[from][r], row_bytes[from]);
}
static void zero_tile(int to) { memset(registers[to], 0, sizeof registers[to]); }
/** Source: Intel's manual, TDPBSSD: four signed bytes of a row of `a` times four of a column of `b`, summed. */
static void multiply_signed(int to, int a, int b) {
  if (rows[to] != rows[a] || row_bytes[to] != row_bytes[b] || row_bytes[a] != 4 * rows[b]) abort();
  for (int m = 0; m < rows[a]; m++)
    for (int n = 0; n < row_bytes[to] / 4; n++) {
      int32_t sum;
      memcpy(&sum, &registers[to][m][4 * n], 4);
      for (int k = 0; k < row_bytes[a]; k++) sum += (int8_t)registers[a][m][k] * (int8_t)registers[b][k / 4][4 * n + k % 4];
      memcpy(&registers[to][m][4 * n], &sum, 4);
    }
}

#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbssd
#define _tile_loadconfig load_config
#define _tile_release release
#define _tile_loadd load_tile
#define _tile_stored store_tile
#define _tile_zero zero_tile
#define _tile_dpbssd multiply_signed
#include "../c/isa-amx.c"
