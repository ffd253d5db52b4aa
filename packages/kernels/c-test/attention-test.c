// Attention of random shapes: caches of all types, windows, soft caps, sinks, rotations and norms.
#include "attention-reference.h"

static size_t cache_bytes(const Attention *a, int sequences) {
  return (size_t)sequences * a->kv_heads * a->capacity * cache_row(a->type, a->head_size) * cache_element_bytes(a->type);
}

/** As the operator does: few rows in pieces, many rows in items. All working memory has exactly its size. */
static void attend_all(const Isa *isa, Attention a) {
  const FloatFunctions *f = isa->floats;
  const int pairs = a.batch * a.kv_heads, channels = cache_channels(a.head_size);
  int most = 0;
  for (int b = 0; b < a.batch; b++) most = max_int(most, a.last[b] + 1);
  a.pieces = (most + PIECE - 1) / PIECE;
  a.int8 = isa->int8;
  a.queries = new_buffer(query_bytes(&a) * (size_t)pairs);
  for (int i = 0; i < a.batch * a.length; i++) f->prepare_token(&a, i);
  if (query_rows(&a) <= QUERY_ROWS || a.length == 1) {
    const size_t rows = (size_t)pairs * a.pieces * whole_rows(&a);
    a.piece_values = new_buffer(rows * channels * 4);
    a.piece_peaks = new_buffer(rows * 4);
    a.piece_sums = new_buffer(rows * 4);
    for (int i = 0; i < pairs * a.pieces; i++) f->attend_piece(&a, i / a.pieces / a.kv_heads, i / a.pieces % a.kv_heads, i % a.pieces);
    for (int i = 0; i < pairs; i++) f->merge_pieces(&a, i / a.kv_heads, i % a.kv_heads);
    free_buffer(a.piece_values), free_buffer(a.piece_peaks), free_buffer(a.piece_sums);
  } else {
    const int rows = query_rows(&a);
    for (int i = 0; i < pairs; i++)
      for (int first = 0; first < rows; first += ITEM_ROWS) {
        uint8_t *memory = new_buffer(item_bytes(&a));
        f->attend_rows(&a, i / a.kv_heads, i % a.kv_heads, first, min_int(ITEM_ROWS, rows - first), memory);
        free_buffer(memory);
      }
  }
  free_buffer(a.queries);
}

/** Tokens `from` to `to` of all sequences, whose caches hold those before. Sequence b is `shift[b]` tokens ahead. */
static void attend_tokens(const Isa *isa, Attention a, const float *const *qkv, const int *shift, int from, int to, float *const *out) {
  const size_t columns = (size_t)packed_heads(&a) * a.head_size, width = (size_t)a.heads * a.head_size;
  const int length = to - from;
  float *x = new_buffer((size_t)a.batch * length * columns * 4), *y = new_buffer((size_t)a.batch * length * width * 4);
  int32_t *last = new_buffer((size_t)a.batch * 4);
  for (int b = 0; b < a.batch; b++) {
    memcpy(x + (size_t)b * length * columns, qkv[b] + (size_t)(shift[b] + from) * columns, (size_t)length * columns * 4);
    last[b] = shift[b] + to - 1;
  }
  a.length = length, a.last = last, a.qkv = x, a.out = y;
  attend_all(isa, a);
  for (int b = 0; b < a.batch; b++)
    memcpy(out[b] + (size_t)(shift[b] + from) * width, y + (size_t)b * length * width, (size_t)length * width * 4);
  free_buffer(x), free_buffer(y), free_buffer(last);
}

static Attention random_attention(Random *random, int tokens) {
  Attention a = {.kv_heads = random_int(random, 1, 3), .type = (CacheType)random_int(random, 0, 2), .epsilon = 1e-6f};
  a.heads = a.kv_heads * random_int(random, 1, tokens > 200 ? 2 : 5);
  // Many heads over one head of keys, as latent attention has.
  if (chance(random, 15)) a.heads = (a.kv_heads = 1) * random_int(random, 9, tokens > 200 ? 10 : 40);
  a.head_size = chance(random, 30) ? 16 * random_int(random, 1, 5) : random_int(random, 1, 50);
  if (chance(random, 3)) a.head_size = 16 * random_int(random, 30, MAX_HEAD_SIZE / 16);
  a.capacity = (int)round_up((size_t)tokens, GROUP) + GROUP * random_int(random, 0, 1);
  a.scale = 1.0f / sqrtf((float)a.head_size) * (float)random_int(random, 1, 4);
  a.softcap = chance(random, 30) ? 3.0f : 0;
  a.window = chance(random, tokens > PIECE ? 80 : 40) ? random_int(random, 1, tokens > PIECE && chance(random, 60) ? 40 : tokens) : 0;
  if (chance(random, 60)) {
    a.rotary = 2 * random_int(random, 0, a.head_size / 2);
    a.is_interleaved = chance(random, 50);
    a.cosines = random_floats(random, (size_t)tokens * a.rotary / 2);
    a.sines = random_floats(random, (size_t)tokens * a.rotary / 2);
  }
  if (chance(random, 30)) a.query_norm = random_floats(random, (size_t)a.head_size);
  if (chance(random, 30)) a.key_norm = random_floats(random, (size_t)a.head_size);
  if (chance(random, 30)) a.sinks = random_floats(random, (size_t)a.heads);
  a.keys_only = chance(random, 25);
  return a;
}

/** The same tokens once more, whose keys another layer has appended: their queries alone give the same bits. */
static void check_reading(const Isa *isa, Attention a, const float *qkv, int tokens, const float *expected) {
  const size_t width = (size_t)a.heads * a.head_size, columns = (size_t)packed_heads(&a) * a.head_size;
  const int32_t last = tokens - 1;
  float *queries = new_buffer(tokens * width * 4), *out = new_buffer(tokens * width * 4);
  for (int t = 0; t < tokens; t++) memcpy(queries + t * width, qkv + t * columns, width * 4);
  a.reads_only = 1, a.length = tokens, a.last = &last, a.qkv = queries, a.out = out;
  attend_all(isa, a);
  if (memcmp(expected, out, tokens * width * 4)) FAIL("attention: %s gives other bits where it only reads the cache", isa->name);
  free_buffer(queries), free_buffer(out);
}

enum { MAX_BATCH = 3 };

static void make_caches(Attention *a, size_t bytes) {
  a->keys = new_buffer(bytes);
  a->values = a->keys_only ? a->keys : new_buffer(bytes);
}

static void free_caches(Attention *a) {
  free_buffer(a->keys);
  if (!a->keys_only) free_buffer(a->values);
}

/**
 * Sequences whole and alone, in chunks, and together give the same bits, which are those of every other instruction set. With a window
 * of less than a piece, chunks and batches have a ring of one piece.
 */
void test_attention(Random *random) {
  const int tokens = chance(random, 8) ? random_int(random, 257, 530) : random_int(random, 1, 60);
  Attention a = random_attention(random, tokens);
  const int batch = random_int(random, 1, MAX_BATCH);
  const size_t columns = (size_t)packed_heads(&a) * a.head_size, bytes = (size_t)tokens * a.heads * a.head_size * 4;
  float *qkv[MAX_BATCH], *expected[MAX_BATCH], *out[MAX_BATCH];
  for (int b = 0; b < batch; b++) {
    qkv[b] = random_floats(random, (size_t)tokens * columns);
    expected[b] = new_buffer(bytes);
    out[b] = new_buffer(bytes);
  }
  const int zero[MAX_BATCH] = {0};
  const size_t whole = cache_bytes(&a, 1);
  for (int i = 0; i < tested_count; i++) {
    const Isa *isa = tested[i];
    a.batch = 1;
    for (int b = 0; b < batch; b++) {
      make_caches(&a, whole);
      attend_tokens(isa, a, (const float *const *)&qkv[b], zero, 0, tokens, &out[b]);
      if (i == 0) {
        memcpy(expected[b], out[b], bytes);
        add_to_checksum(expected[b], bytes);
        check_attention(&a, tokens, qkv[b], expected[b]);
      }
      if (memcmp(expected[b], out[b], bytes)) FAIL("attention: %s gives other bits than %s", isa->name, tested[0]->name);
      check_reading(isa, a, qkv[b], tokens, expected[b]);
      free_caches(&a);
    }
    // Together, in chunks of random length; sequence b is some tokens ahead.
    const int capacity = a.capacity, is_ring = a.window > 0 && a.window < PIECE && tokens > PIECE;
    const int longest = is_ring ? PIECE - a.window + 1 : tokens;
    if (is_ring) a.capacity = PIECE;
    const size_t one = cache_bytes(&a, 1), all = cache_bytes(&a, batch);
    int shift[MAX_BATCH], most = 0;
    for (int b = 0; b < batch; b++) most = max_int(most, shift[b] = random_int(random, 0, tokens - 1));
    make_caches(&a, all);
    for (int b = 0; b < batch; b++) memset(out[b], 0, bytes);
    for (int b = 0; b < batch; b++) {
      Attention alone = a;
      alone.keys += one * b, alone.values += one * b;
      for (int from = 0, to; from < shift[b]; from = to) {
        to = random_int(random, from + 1, min_int(shift[b], from + longest));
        attend_tokens(isa, alone, (const float *const *)&qkv[b], zero, from, to, &out[b]);
      }
    }
    a.batch = batch;
    for (int from = 0, to; from < tokens - most; from = to) {
      to = chance(random, 50) ? from + 1 : random_int(random, from + 1, min_int(tokens - most, from + longest));
      attend_tokens(isa, a, (const float *const *)qkv, shift, from, to, out);
    }
    for (int b = 0; b < batch; b++)
      if (memcmp(expected[b], out[b], (size_t)(shift[b] + tokens - most) * (bytes / tokens))) FAIL("attention: %s: chunks or other sequences change bits", isa->name);
    free_caches(&a);
    a.capacity = capacity;
  }
  for (int b = 0; b < batch; b++) free_buffer(qkv[b]), free_buffer(expected[b]), free_buffer(out[b]);
  free_buffer((void *)a.cosines), free_buffer((void *)a.sines), free_buffer((void *)a.query_norm), free_buffer((void *)a.key_norm), free_buffer((void *)a.sinks);
}
