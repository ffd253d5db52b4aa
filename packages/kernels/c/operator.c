// What all operators have in common: how ONNX Runtime asks for their names and types, and working memory.
#include "ort.h"

static const char *get_name(const Operator *op) { return op->name; }
static const char *get_provider(const Operator *op) { (void)op; return 0; }
static int input_type(const Operator *op, size_t index) { return op->inputs[index]; }
static size_t input_count(const Operator *op) { return op->inputs_length; }
static int output_type(const Operator *op, size_t index) { return op->outputs[index]; }
static size_t output_count(const Operator *op) { return op->outputs_length; }
/** 0 required, 1 optional */
static int input_characteristic(const Operator *op, size_t index) { return index >= op->required_inputs; }
static int output_characteristic(const Operator *op, size_t index) { (void)op; return index > 0; }
static int input_memory(const Operator *op, size_t index) { (void)op; (void)index; return 0; }
static int zero(const Operator *op) { (void)op; return 0; }
static int start_version(const Operator *op) { (void)op; return 1; }
static int end_version(const Operator *op) { (void)op; return 0x7fffffff; }
static size_t no_aliases(int **inputs, int **outputs) { *inputs = *outputs = 0; return 0; }
static void release_aliases(int *inputs, int *outputs) { (void)inputs; (void)outputs; }

/** A kernel begins with the API that it was made with. */
static void destroy(void *kernel) {
  Api api = *(Api *)kernel;
  release(api, kernel);
}

void complete_operator(Operator *op, Status (*create)(const Operator *, Api, Info *, void **), Status (*compute)(void *, Context *)) {
  op->version = 23;
  op->get_name = get_name;
  op->get_provider = get_provider;
  op->input_type = input_type;
  op->input_count = input_count;
  op->output_type = output_type;
  op->output_count = output_count;
  op->destroy = destroy;
  op->input_characteristic = input_characteristic;
  op->output_characteristic = output_characteristic;
  op->input_memory = input_memory;
  op->variadic_inputs = op->variadic_inputs_same = op->variadic_outputs = op->variadic_outputs_same = zero;
  op->create_v2 = create;
  op->compute_v2 = compute;
  op->start_version = start_version;
  op->end_version = end_version;
  op->may_inplace = op->alias_map = no_aliases;
  op->release_may_inplace = op->release_alias_map = release_aliases;
}

enum { KEPT = 4 };

/** The size stands in front of the memory; 64 bytes keep its alignment. */
static void *kept[KEPT];

Scratch take_scratch(Api api, size_t bytes) {
  for (int i = 0; i < KEPT; i++) {
    uint8_t *memory = __atomic_exchange_n(&kept[i], 0, __ATOMIC_ACQUIRE);
    if (!memory) continue;
    size_t size = *(size_t *)memory;
    if (size >= bytes) return (Scratch){memory, size};
    release(api, memory);
  }
  size_t size = round_up(bytes + bytes / 4, 4096);
  uint8_t *memory = allocate(api, size + 128);
  if (memory) *(size_t *)memory = size;
  return (Scratch){memory, size};
}

void give_scratch(Api api, Scratch scratch) {
  for (int i = 0; i < KEPT; i++) {
    void *none = 0;
    if (__atomic_compare_exchange_n(&kept[i], &none, scratch.memory, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
  }
  release(api, scratch.memory);
}
