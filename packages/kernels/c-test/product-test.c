// Products of random shapes, formats and fused parts.
#include "reference.h"

uint8_t *random_tiles(Random *random, Format format, int inputs, int outputs) {
  const size_t bytes = matrix_bytes(format, inputs, outputs), block = block_bytes(format);
  uint8_t *tiles = new_buffer(bytes);
  if (format == FORMAT_F32) {
    for (size_t i = 0; i < bytes / 4; i++) {
      const int k = (int)(i / TILE % BLOCK) + (int)(i / (TILE * BLOCK) % (size_t)block_count(inputs)) * BLOCK;
      const float x = k < inputs ? random_float(random) : 0;
      memcpy(tiles + 4 * i, &x, 4);
    }
    return tiles;
  }
  for (size_t i = 0; i < bytes; i++) tiles[i] = (uint8_t)random_int(random, 0, 255);
  if (format >= FORMAT_Q4_K) {
    // Scales of blocks are any byte.
    const size_t factors = format == FORMAT_Q6_K ? TILE : 2 * TILE, tile = tile_bytes(format, inputs);
    for (size_t start = 0; start < bytes; start += tile)
      for (size_t at = 0; at < tile; at += 2 * factors + SUPER_BLOCK * block)
        for (size_t i = 0; i < factors; i++) {
          const _Float16 half = (_Float16)(random_float(random) / 2048);
          memcpy(tiles + start + at + 2 * i, &half, 2);
        }
    return tiles;
  }
  for (size_t at = code_bytes(format); at < bytes; at += block)
    for (size_t i = 0; i < block - code_bytes(format); i += 2) {
      const _Float16 half = (_Float16)(random_float(random) / 16);
      memcpy(tiles + at + i, &half, 2);
    }
  return tiles;
}

void multiply(const Isa *isa, Random random, const Product *p) {
  for (int i = 0; i < fill_total(p); i++) isa->floats->fill_rows(p, i);
  for (int from = 0, to; from < p->tiles; from = to) {
    to = random_int(&random, from + 1, p->tiles);
    isa->multiply(p, from, to);
  }
}

/** Checks how a block was rounded to 8 bits in a row of a panel. Mutates: `x`, which becomes what the codes leave over. */
static void check_block(const Panel *panel, int width, int block, int row, double *x, double error) {
  double peak = 0;
  int sum = 0, halves[2] = {0, 0};
  for (int i = 0; i < BLOCK; i++) peak = fmax(peak, fabs(x[i]));
  const double scale = panel->scales[block * width + row];
  for (int i = 0; i < BLOCK; i++) {
    const int code = panel->codes[((size_t)block * width + row) * BLOCK + i];
    sum += code;
    halves[i / 16] += code;
    expect_near("code", code * scale, x[i], scale * 0.50002 + error);
    x[i] -= code * scale;
  }
  expect_near("scale", scale, peak / 127, error);
  expect_near("sum", panel->sums[block * width + row], scale * sum, 1e-6 * peak * BLOCK + SMALLEST_PEAK);
  expect_near("shift", panel->shifts[block * width + row], -128.0 * sum, 0);
  for (int i = 0; i < 2; i++) expect_near("half", panel->halves[(block * 2 + i) * width + row], -32.0 * halves[i], 0);
}

/** Numbers of a row of x. */
static int row_length(const Product *p) { return p->groups ? p->groups * p->group_step : p->inputs; }

/** What a row of activations stands for behind norm and rounding, in one group. Shape: [inputs]. Checks how it was rounded. */
static void read_panel(const Product *p, int row, int group, double *x) {
  const int most = p->splits == 2 ? 16 : 32, panel = row / most, r = row % most, panels = (p->rows + most - 1) / most;
  const int count = min_int(most, p->rows - panel * most) * p->splits, width = count > 4 ? (count + 7) / 8 * 8 : count > 2 ? 4 : count;
  const Panel found = get_panel(p, group * panels + panel);
  const float *source = p->x + (size_t)row * row_length(p) + group * p->group_step + p->group_start;
  if (p->norm) norm_of(source, p->norm, p->inputs, p->epsilon, x);
  else for (int i = 0; i < p->inputs; i++) x[i] = source[i];
  for (int b = 0; b < p->blocks; b++) {
    const int first = b * BLOCK, inputs = min_int(BLOCK, p->inputs - first);
    double left[BLOCK] = {0}, peak = 0;
    for (int i = 0; i < inputs; i++) peak = fmax(peak, fabs(left[i] = x[first + i]));
    // Norms are computed in float32, and numbers too small for an inverse are zero.
    const double error = 1e-6 * peak + SMALLEST_PEAK;
    if (p->is_quantised) {
      for (int i = 0; i < p->splits; i++) check_block(&found, width, b, r * p->splits + i, left, error);
      for (int i = 0; i < inputs; i++) x[first + i] -= left[i];
    } else {
      for (int i = 0; i < BLOCK; i++) expect_near("value", found.values[(size_t)(first + i) * width + r], left[i], error);
    }
  }
}

typedef struct { double value, magnitude; } Dot;

static Dot dot_of(const Part *part, const Product *p, int output, const double *x) {
  Dot dot = {0, 0};
  for (int i = 0; i < p->inputs; i++) {
    const double term = weight_at(part->format, part->tiles, p->inputs, output, i) * x[i];
    dot.value += term;
    dot.magnitude += fabs(term);
    // Codes are multiplied before what they are offset by is taken off.
    if (p->is_quantised) dot.magnitude += fabs(x[i]) * 2;
  }
  return dot;
}

/** The outputs of one group. */
static void check_row(const Product *p, int row, int group, const double *x) {
  for (int index = 0; index < p->part_count; index++) {
    const Part *part = &p->parts[index];
    const int columns = p->is_gated ? part->outputs / 2 : part->outputs;
    const int own = p->groups ? columns / p->groups : columns;
    for (int n = group * own; n < (group + 1) * own; n++) {
      const int column = part->column + n;
      // Tiles of gates and of ups take turns.
      const int gate = p->is_gated ? n / TILE * 2 * TILE + n % TILE : n;
      const Dot y = dot_of(part, p, gate, x);
      double up = 1, up_magnitude = 1;
      if (p->is_gated) {
        const Dot dot = dot_of(part, p, gate + TILE, x);
        up = dot.value + (p->bias ? p->bias[p->columns + column] : 0);
        up_magnitude = dot.magnitude + 1;
      }
      const double bias = p->bias ? p->bias[column] : 0, residual = p->residual ? p->residual[(size_t)row * p->columns + column] : 0;
      const double gated = p->activation == ACTIVATION_CLAMPED ? clamped_of(y.value + bias, up, p->limit) : activation_of(p->activation, y.value + bias) * up;
      const double expected = gated + residual;
      // A square has twice its root times the root's error.
      if (p->activation == ACTIVATION_RELU2) up_magnitude *= 2 * (y.magnitude + 1);
      expect_near("product", p->out[(size_t)row * p->columns + column], expected, 4e-6 * (y.magnitude + 1) * up_magnitude);
    }
  }
}

static Product random_product(Random *random) {
  Product p = {.rows = chance(random, 50) ? random_int(random, 1, 9) : random_int(random, 1, 80), .epsilon = 1e-5f};
  p.inputs = random_int(random, 1, chance(random, 20) ? 700 : 100);
  p.blocks = block_count(p.inputs);
  p.groups = chance(random, 25) ? random_int(random, 1, 6) : 0;
  p.group_start = p.groups ? random_int(random, 0, 40) : 0;
  p.group_step = p.groups ? p.group_start + p.inputs + random_int(random, 0, 40) : 0;
  p.is_gated = !p.groups && chance(random, 30);
  p.part_count = p.is_gated || p.groups ? 1 : random_int(random, 1, MAX_PARTS);
  p.is_quantised = chance(random, 80);
  p.splits = p.is_quantised && chance(random, 40) ? 2 : 1;
  p.activation = random_activation(random, p.is_gated);
  p.limit = 2;
  for (int i = 0; i < p.part_count; i++) {
    Part *part = &p.parts[i];
    part->format = p.is_quantised ? (Format)random_int(random, FORMAT_Q4, FORMAT_COUNT - 1) : FORMAT_F32;
    const int columns = p.groups ? p.groups * TILE * random_int(random, 1, 3) : random_int(random, 1, 50);
    part->outputs = p.is_gated ? 2 * columns : columns;
    part->column = p.columns;
    part->first_tile = p.tiles;
    part->tiles = random_tiles(random, part->format, p.inputs, p.is_gated ? 2 * TILE * tile_count(columns) : columns);
    p.columns += columns;
    p.tiles += tile_count(columns);
  }
  p.x = random_floats(random, (size_t)p.rows * row_length(&p));
  // Outliers, zeros, and numbers whose inverse is infinite.
  for (int i = 0; i < p.rows * row_length(&p); i++)
    if (chance(random, 3)) ((float *)p.x)[i] *= chance(random, 50) ? 50.0f : 0.0f;
  if (chance(random, 10)) for (int i = 0; i < row_length(&p); i++) ((float *)p.x)[i] *= 1e-39f;
  if (!p.groups && chance(random, 50)) p.norm = random_floats(random, (size_t)p.inputs);
  if (chance(random, 50)) p.bias = random_floats(random, (size_t)p.columns * (p.is_gated ? 2 : 1));
  if (chance(random, 50)) p.residual = random_floats(random, (size_t)p.rows * p.columns);
  return p;
}

/** Every instruction set gives the same bits, every row alone the same as among others, and all what the reference gives. */
void test_product(Random *random) {
  Product p = random_product(random);
  const size_t bytes = (size_t)p.rows * p.columns * 4;
  float *first = 0;
  double *x = new_buffer((size_t)p.inputs * sizeof *x);
  for (int i = 0; i < tested_count; i++) {
    p.out = new_buffer(bytes);
    p.panels = new_buffer(panels_bytes(&p));
    multiply(tested[i], *random, &p);
    if (first && memcmp(first, p.out, bytes)) FAIL("%s gives other bits than %s", tested[i]->name, tested[0]->name);
    for (int row = 0; row < p.rows && i == 0; row++)
      for (int group = 0; group < max_int(1, p.groups); group++) {
        read_panel(&p, row, group, x);
        check_row(&p, row, group, x);
      }
    const int row = random_int(random, 0, p.rows - 1);
    Product alone = p;
    alone.rows = 1;
    alone.x = p.x + (size_t)row * row_length(&p);
    alone.residual = p.residual ? p.residual + (size_t)row * p.columns : 0;
    alone.out = new_buffer((size_t)p.columns * 4);
    alone.panels = new_buffer(panels_bytes(&alone));
    multiply(tested[i], *random, &alone);
    if (memcmp(alone.out, p.out + (size_t)row * p.columns, (size_t)p.columns * 4)) FAIL("%s: a row depends on others", tested[i]->name);
    free_buffer(alone.out), free_buffer(alone.panels), free_buffer(p.panels);
    if (i == 0) add_to_checksum(p.out, bytes);
    if (first) free_buffer(p.out);
    else first = p.out;
  }
  for (int index = 0; index < p.part_count; index++) {
    const Part *part = &p.parts[index];
    const int output = random_int(random, 0, part->outputs - 1);
    float *row = new_buffer((size_t)p.inputs * 4);
    for (int i = 0; i < tested_count; i++) {
      tested[i]->floats->read_row(part->format, part->tiles, p.inputs, output, row);
      for (int k = 0; k < p.inputs; k++) {
        const double expected = weight_at(part->format, part->tiles, p.inputs, output, k);
        // One rounding, so the last bit is right.
        expect_near("row", row[k], (float)expected, 0);
      }
    }
    free_buffer(row), free_buffer((void *)part->tiles);
  }
  free_buffer(x), free_buffer(first), free_buffer((void *)p.x);
  free_buffer((void *)p.norm), free_buffer((void *)p.bias), free_buffer((void *)p.residual);
}
