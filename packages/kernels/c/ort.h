// The part of ONNX Runtime's C API that operators use. Functions stand in a table to which entries are only appended.
// Source: onnxruntime_c_api.h; the positions are those of 1.30.
#pragma once
#include "base.h"

typedef const void *const *Api;
typedef void *Status;
typedef const void Info;
typedef void Context;

#define ORT(position, type) ((type)api[position])

enum { ORT_INVALID_ARGUMENT = 2, ORT_INVALID_GRAPH = 10 };
enum { ELEMENT_F32 = 1, ELEMENT_UINT8 = 2, ELEMENT_INT8 = 3, ELEMENT_INT32 = 6, ELEMENT_INT64 = 7, ELEMENT_F16 = 10 };

static inline Status fail(Api api, int code, const char *message) {
  return ORT(0, Status (*)(int, const char *))(code, message);
}
/** Frees a status and says whether it was an error. */
static inline int failed(Api api, Status status) {
  if (!status) return 0;
  ORT(93, void (*)(Status))(status);
  return 1;
}

/** `otherwise` where the attribute is absent. */
int64_t int_attribute(Api api, Info *info, const char *name, int64_t otherwise);
float float_attribute(Api api, Info *info, const char *name, float otherwise);
/** How many integers the attribute has, at most `limit`; -1 where there are more, 0 where it is absent. */
int int_attributes(Api api, Info *info, const char *name, int64_t *values, size_t limit);

enum { MAX_RANK = 4 };

/** A tensor of a call, or `data` null where an optional input is absent. */
typedef struct {
  void *data;
  int64_t shape[MAX_RANK];
  size_t rank;
} Tensor;

Tensor input(Api api, Context *context, size_t index);
/** A constant of the graph, or `data` null where the input is absent or no constant. It stays where it is for the session's life. */
Tensor constant_input(Api api, Info *info, size_t index);

/** Whether the node has this input, constant or not. */
int is_given(Api api, Info *info, size_t index);

/** Memory of an output of this shape, null where there is none. */
void *output(Api api, Context *context, size_t index, const int64_t *shape, size_t rank);

/** -1 where the shape has more dimensions than any operator takes. */
static inline int64_t element_count(const Tensor *tensor) {
  if (tensor->rank > MAX_RANK) return -1;
  int64_t count = 1;
  for (size_t i = 0; i < tensor->rank; i++) count *= tensor->shape[i];
  return count;
}

/** Calls `work` for 0 .. count - 1 on the session's threads, this one included, and waits. */
void parallel(Api api, Context *context, void (*work)(void *, size_t), size_t count, void *data);

/** Null where there is no memory. */
void *allocate(Api api, size_t bytes);
void release(Api api, void *memory);

// Working memory of a call, kept for the next one of any operator.
typedef struct { void *memory; size_t bytes; } Scratch;
Scratch take_scratch(Api api, size_t bytes);
void give_scratch(Api api, Scratch scratch);
/** The first byte, at a cache line. */
static inline uint8_t *scratch_start(Scratch scratch) { return (uint8_t *)round_up((size_t)scratch.memory + sizeof(size_t), 64); }

/** OrtCustomOp from version 18 on, and behind it what our functions need to know of the operator. */
typedef struct Operator {
  uint32_t version;
  void *create, *get_name, *get_provider, *input_type, *input_count, *output_type, *output_count, *compute, *destroy,
      *input_characteristic, *output_characteristic, *input_memory, *variadic_inputs, *variadic_inputs_same, *variadic_outputs,
      *variadic_outputs_same, *create_v2, *compute_v2, *infer_shape, *start_version, *end_version, *may_inplace,
      *release_may_inplace, *alias_map, *release_alias_map;
  const char *name;
  const uint8_t *inputs, *outputs;
  uint8_t required_inputs, inputs_length, outputs_length;
  int kind;
  /** What its kernels compute with. */
  const struct Isa *isa;
} Operator;

/** Fills the structure; the caller has set the fields of our own. */
void complete_operator(Operator *op, Status (*create)(const Operator *, Api, Info *, void **), Status (*compute)(void *, Context *));
