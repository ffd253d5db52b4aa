// What the functions of one piece of keys share: a block of rows, its limits, and its scores.
#pragma once
#include "attention.h"

/** How far ahead of its loop an array is fetched. */
enum { AHEAD_BYTES = 4096 };

/**
 * Into the second-level cache: fetches into the first one are fewer at a time, and a single row of queries reads at the speed of
 * memory. What is fetched may lie behind the end of an array.
 */
INLINE void fetch(const uint8_t *p) { __builtin_prefetch(p, 0, 2); }

/** The rows of a block: which keys each attends to, [first, end). */
typedef struct { int first[QUERY_ROWS], end[QUERY_ROWS]; int least, most; } Limits;

/** A block of rows over one piece of keys: `first` to `end`, counted from the start of the piece. */
typedef struct {
  const Attention *attention;
  /** Those of the piece. */
  const uint8_t *keys, *values;
  QueryBlock queries;
  const Limits *limits;
  /** Rows of the block, those in use, the position of the piece's first key. */
  int rows, used, from, first, end;
} Work;

typedef struct {
  /** Scores, then weights. */
  float rows[QUERY_ROWS][PIECE];
  /** With an int8 cache: weights times the scales of values, in codes of 0 to 127 with a scale for each group of keys. */
  uint8_t codes[QUERY_ROWS][PIECE];
  float scales[QUERY_ROWS][PIECE / GROUP];
} Scores;

typedef void (*ScoreKeys)(const Work *, int first, int end, int row, Scores *);
typedef void (*SumValues)(const Work *, int channel, int row, const Scores *, float *out);

enum {
  /** Channels of a call of `sum_keys`. */
  KEY_CHANNELS = LANES,
};

/** Loops over the keys and values of one type of cache. */
typedef struct CacheFunctions {
  /** Most rows of a call of `score` and of `sum`; of blocks with less than four rows the most of either. */
  int score_rows, value_rows, few_rows;
  /** Vectors of channels of a call of `sum`, and of one for a block of at most four rows. */
  int vectors, few_rows_vectors;
  /** Scores of keys `first` to `end`, whole groups, for 1, 2, 3, 4 and 8 rows from `row` on. */
  ScoreKeys score[5];
  /** Sums of values from `channel` on, for as many rows. Shape: `out` is [rows of the block, channels]. */
  SumValues sum[5];
  /** One row and one vector of channels: for heads with fewer channels than a call takes, which only the smallest models have. */
  SumValues sum_narrow;
  /** Sums of keys, which are the values too, for `key_rows` rows. */
  int key_rows;
  SumValues sum_keys;
} CacheFunctions;

/** How many rows of a block go through the keys or values together, where at most `most` can. */
INLINE int rows_at_once(const CacheFunctions *functions, int rows, int most) {
  return min_int(rows, rows < 4 ? min_int(most, functions->few_rows) : most);
}
