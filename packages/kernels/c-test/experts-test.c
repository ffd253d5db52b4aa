// Mixtures of random shapes, formats, routings and fused parts.
#include "reference.h"

static void run(const Isa *isa, Random random, Experts *e) {
  uint8_t *memory = new_buffer(experts_bytes(e));
  lay_out_experts(e, memory);
  for (int row = 0; row < e->rows; row++) isa->floats->route_row(e, row);
  group_rows(e);
  for (int part = UP; part <= DOWN; part++)
    for (int i = 0; i < e->count; i++) {
      const Product p = expert_product(e, part, i);
      multiply(isa, random, &p);
    }
  for (int row = 0; row < e->rows; row++) isa->floats->combine_row(e, row);
}

static Product random_part(Random *random, int inputs, int columns, int count, int is_gated, size_t *bytes) {
  Product p = {.inputs = inputs, .blocks = block_count(inputs), .columns = columns, .part_count = 1, .tiles = tile_count(columns), .is_gated = is_gated, .epsilon = 1e-5f, .limit = 1};
  const Format format = chance(random, 20) ? FORMAT_F32 : (Format)random_int(random, FORMAT_Q4, FORMAT_COUNT - 1);
  p.is_quantised = format != FORMAT_F32;
  p.splits = p.is_quantised && chance(random, 40) ? 2 : 1;
  const int outputs = is_gated ? 2 * TILE * p.tiles : TILE * p.tiles;
  *bytes = matrix_bytes(format, inputs, outputs);
  p.parts[0] = (Part){.format = format, .outputs = is_gated ? 2 * columns : columns, .tiles = random_tiles(random, format, inputs, outputs * count)};
  if (chance(random, 50)) p.bias = random_floats(random, (size_t)p.parts[0].outputs * count);
  return p;
}

static double key_of(const Experts *e, const double *scores, int expert) {
  return scores[expert] + (e->selection_bias ? e->selection_bias[expert] : 0);
}

/** Experts are chosen of the groups with the largest sums only. Gives which experts were open to choose: those of groups with a chosen one. */
static void check_groups(const Experts *e, const double *scores, const int *is_chosen, int *is_open) {
  const int groups = e->groups ? e->groups : 1, size = e->count / groups;
  double sums[MAX_CHOSEN];
  int open = 0;
  for (int g = 0; g < groups; g++) {
    double first = -INFINITY, second = -INFINITY;
    int is_used = !e->groups;
    for (int i = g * size; i < (g + 1) * size; i++) {
      const double key = key_of(e, scores, i);
      second = fmax(second, fmin(first, key)), first = fmax(first, key);
      is_used |= is_chosen[i];
    }
    sums[g] = e->group_keys == 2 ? first + second : first;
    for (int i = g * size; i < (g + 1) * size; i++) is_open[i] = is_used;
    open += is_used;
  }
  if (!e->groups) return;
  if (open > e->chosen_groups) FAIL("experts of too many groups");
  for (int g = 0; g < groups; g++) {
    int larger = 0;
    for (int other = 0; other < groups; other++) larger += sums[other] > sums[g] + 2e-6;
    if (is_open[g * size] && larger >= e->chosen_groups) FAIL("an expert of a group that others outdo");
  }
}

/** A row has the experts with the largest keys, in their order, with the weights that the definition gives. */
static void check_routing(const Experts *e, int row) {
  const float *logits = e->logits + (size_t)row * e->count;
  double scores[MAX_EXPERTS], sum = 0, chosen_sum = 0;
  for (int i = 0; i < e->count; i++) sum += exp(logits[i]);
  for (int i = 0; i < e->count; i++) scores[i] = e->scoring == SCORING_SIGMOID ? 1 / (1 + exp(-logits[i])) : exp(logits[i]) / sum;
  int is_chosen[MAX_EXPERTS] = {0};
  for (int i = 0; i < e->chosen; i++) {
    const int expert = e->experts[(size_t)row * e->chosen + i];
    if (expert < 0 || expert >= e->count || (i > 0 && expert <= e->experts[(size_t)row * e->chosen + i - 1])) FAIL("experts are out of order");
    is_chosen[expert] = 1;
    chosen_sum += scores[expert];
  }
  double least = INFINITY, most = -INFINITY;
  int is_open[MAX_EXPERTS];
  check_groups(e, scores, is_chosen, is_open);
  for (int i = 0; i < e->count; i++) {
    const double key = key_of(e, scores, i);
    if (!is_open[i]) continue;
    if (is_chosen[i]) least = fmin(least, key);
    else most = fmax(most, key);
  }
  if (most > least + 1e-6) FAIL("an expert was left out that scores higher");
  for (int i = 0; i < e->chosen; i++) {
    const double score = scores[e->experts[(size_t)row * e->chosen + i]] / (e->is_normalised ? chosen_sum : 1);
    expect_near("weight", e->weights[(size_t)row * e->chosen + i], score * e->scale, 3e-6);
  }
}

/** Products of an expert alone, on its rows one after the other, have the bits of the mixture. */
static void check_expert(const Isa *isa, Random random, const Experts *e, int expert) {
  const int first = e->first_places[expert], rows = e->first_places[expert + 1] - first;
  if (rows == 0) return;
  for (int part = UP; part <= DOWN; part++) {
    Product p = expert_product(e, part, expert);
    const float *expected = p.out;
    float *x = new_buffer((size_t)rows * p.inputs * 4);
    for (int i = 0; i < rows; i++)
      memcpy(x + (size_t)i * p.inputs, p.x + (size_t)(part == UP ? e->rows_of_places[first + i] : i) * p.inputs, (size_t)p.inputs * 4);
    p.x = x;
    p.rows_of_x = 0;
    p.out = new_buffer((size_t)rows * p.columns * 4);
    p.panels = new_buffer(panels_bytes(&p));
    multiply(isa, random, &p);
    if (memcmp(p.out, expected, (size_t)rows * p.columns * 4)) FAIL("an expert's rows differ from its product");
    free_buffer(p.out), free_buffer(p.panels), free_buffer(x);
  }
}

static void check_sums(const Experts *e) {
  const int columns = e->down.columns;
  for (int row = 0; row < e->rows; row++)
    for (int column = 0; column < columns; column++) {
      const size_t at = (size_t)row * columns + column;
      double sum = e->residual ? e->residual[at] : 0, magnitude = fabs(sum);
      for (int i = 0; i < e->chosen; i++) {
        const double term = (double)e->weights[row * e->chosen + i] * e->results[(size_t)e->places[row * e->chosen + i] * columns + column];
        sum += term;
        magnitude += fabs(term);
      }
      expect_near("sum", e->out[at], sum, 1e-6 * magnitude + 1e-30);
    }
}

void test_experts(Random *random) {
  Experts e = {.count = random_int(random, 1, chance(random, 20) ? 130 : 12), .rows = random_int(random, 1, 24), .scale = 1};
  e.chosen = random_int(random, 1, min_int(e.count, 6));
  if (chance(random, 30)) {
    e.groups = random_int(random, 1, 8);
    const int size = random_int(random, 2, 6);
    e.count = e.groups * size;
    e.chosen_groups = random_int(random, 1, e.groups);
    e.group_keys = random_int(random, 1, 2);
    e.chosen = random_int(random, 1, min_int(e.chosen_groups * size, 6));
  }
  e.scoring = (Scoring)random_int(random, 0, SCORING_COUNT - 1);
  e.is_normalised = chance(random, 50);
  if (chance(random, 30)) e.scale = 2.5f;
  const int inputs = random_int(random, 1, 100), inner = random_int(random, 1, 70);
  e.up = random_part(random, inputs, inner, e.count, chance(random, 70), &e.up_bytes);
  e.down = random_part(random, inner, inputs, e.count, 0, &e.down_bytes);
  e.up.activation = random_activation(random, e.up.is_gated);
  if (chance(random, 70)) e.up.norm = random_floats(random, (size_t)inputs);
  if (chance(random, 60)) e.selection_bias = random_floats(random, (size_t)e.count);
  const size_t numbers = (size_t)e.rows * inputs;
  e.up.x = random_floats(random, numbers);
  e.logits = random_floats(random, (size_t)e.rows * e.count);
  // Equal logits, of which the first are chosen.
  if (chance(random, 10)) for (int i = 0; i < e.rows * e.count; i++) ((float *)e.logits)[i] = 0;
  if (chance(random, 60)) e.residual = random_floats(random, numbers);
  float *first = 0;
  for (int i = 0; i < tested_count; i++) {
    Experts all = e;
    all.out = new_buffer(4 * numbers);
    run(tested[i], *random, &all);
    if (first && memcmp(first, all.out, 4 * numbers)) FAIL("%s gives other bits than %s", tested[i]->name, tested[0]->name);
    if (i == 0) {
      for (int row = 0; row < e.rows; row++) check_routing(&all, row);
      for (int expert = 0; expert < e.count; expert++) check_expert(tested[i], *random, &all, expert);
      check_sums(&all);
      add_to_checksum(all.out, 4 * numbers);
    }
    const int row = random_int(random, 0, e.rows - 1);
    Experts alone = e;
    alone.rows = 1;
    alone.up.x += (size_t)row * inputs;
    alone.logits += (size_t)row * e.count;
    if (alone.residual) alone.residual += (size_t)row * inputs;
    alone.out = new_buffer((size_t)inputs * 4);
    run(tested[i], *random, &alone);
    if (memcmp(alone.out, all.out + (size_t)row * inputs, (size_t)inputs * 4)) FAIL("%s: a row depends on others", tested[i]->name);
    free_buffer(alone.out), free_buffer(alone.experts), free_buffer(all.experts);
    if (first) free_buffer(all.out);
    else first = all.out;
  }
  free_buffer(first), free_buffer((void *)e.up.x), free_buffer((void *)e.logits), free_buffer((void *)e.residual);
  free_buffer((void *)e.up.parts[0].tiles), free_buffer((void *)e.down.parts[0].tiles), free_buffer((void *)e.selection_bias);
  free_buffer((void *)e.up.norm), free_buffer((void *)e.up.bias), free_buffer((void *)e.down.bias);
}
