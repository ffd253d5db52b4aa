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

static inline int64_t int_attribute(Api api, Info *info, const char *name, int64_t otherwise) {
  int64_t value = 0;
  return failed(api, ORT(86, Status (*)(Info *, const char *, int64_t *))(info, name, &value)) ? otherwise : value;
}
static inline float float_attribute(Api api, Info *info, const char *name, float otherwise) {
  float value = 0;
  return failed(api, ORT(85, Status (*)(Info *, const char *, float *))(info, name, &value)) ? otherwise : value;
}
/** How many integers the attribute has, at most `limit`; -1 where there are more, 0 where it is absent. */
static inline int int_attributes(Api api, Info *info, const char *name, int64_t *values, size_t limit) {
  size_t count = limit;
  typedef Status (*Get)(Info *, const char *, int64_t *, size_t *);
  size_t length = 0;
  if (failed(api, ORT(163, Get)(info, name, 0, &length))) return 0;
  if (length > limit) return -1;
  count = length;
  return failed(api, ORT(163, Get)(info, name, values, &count)) ? 0 : (int)count;
}

enum { MAX_RANK = 4 };

/** A tensor of a call, or `data` null where an optional input is absent. */
typedef struct {
  void *data;
  int64_t shape[MAX_RANK];
  size_t rank;
} Tensor;

static inline void read_shape(Api api, const void *value, Tensor *tensor) {
  void *info = 0;
  failed(api, ORT(65, Status (*)(const void *, void **))(value, &info));
  failed(api, ORT(61, Status (*)(void *, size_t *))(info, &tensor->rank));
  if (tensor->rank <= MAX_RANK) failed(api, ORT(62, Status (*)(void *, int64_t *, size_t))(info, tensor->shape, tensor->rank));
  ORT(99, void (*)(void *))(info);
}

static inline Tensor input(Api api, Context *context, size_t index) {
  Tensor tensor = {0};
  const void *value = 0;
  if (failed(api, ORT(90, Status (*)(Context *, size_t, const void **))(context, index, &value)) || !value) return tensor;
  failed(api, ORT(51, Status (*)(const void *, void **))(value, &tensor.data));
  read_shape(api, value, &tensor);
  return tensor;
}

/** A constant of the graph, or `data` null where the input is absent or no constant. It stays where it is for the session's life. */
static inline Tensor constant_input(Api api, Info *info, size_t index) {
  Tensor tensor = {0};
  const void *value = 0;
  int is_constant = 0;
  typedef Status (*Get)(Info *, size_t, int *, const void **);
  if (failed(api, ORT(249, Get)(info, index, &is_constant, &value)) || !is_constant || !value) return tensor;
  failed(api, ORT(51, Status (*)(const void *, void **))(value, &tensor.data));
  read_shape(api, value, &tensor);
  return tensor;
}

/** Whether the node has this input, constant or not. */
static inline int is_given(Api api, Info *info, size_t index) {
  size_t length = 0;
  typedef Status (*Get)(Info *, size_t, char *, size_t *);
  // With its zero byte; inputs that are left out have an empty name.
  return !failed(api, ORT(232, Get)(info, index, 0, &length)) && length > 1;
}

static inline void *output(Api api, Context *context, size_t index, const int64_t *shape, size_t rank) {
  void *value = 0, *data = 0;
  typedef Status (*Get)(Context *, size_t, const int64_t *, size_t, void **);
  if (failed(api, ORT(91, Get)(context, index, shape, rank, &value)) || !value) return 0;
  failed(api, ORT(51, Status (*)(void *, void **))(value, &data));
  return data;
}

/** -1 where the shape has more dimensions than any operator takes. */
static inline int64_t element_count(const Tensor *tensor) {
  if (tensor->rank > MAX_RANK) return -1;
  int64_t count = 1;
  for (size_t i = 0; i < tensor->rank; i++) count *= tensor->shape[i];
  return count;
}

/** Calls `work` for 0 .. count - 1 on the session's threads, this one included, and waits. */
static inline void parallel(Api api, Context *context, void (*work)(void *, size_t), size_t count, void *data) {
  typedef Status (*Run)(Context *, void (*)(void *, size_t), size_t, size_t, void *);
  if (count == 1) work(data, 0);
  else if (count > 1) failed(api, ORT(274, Run)(context, work, count, 0, data));
}

static inline void *allocate(Api api, size_t bytes) {
  void *allocator = 0, *memory = 0;
  failed(api, ORT(78, Status (*)(void **))(&allocator));
  if (failed(api, ORT(75, Status (*)(void *, size_t, void **))(allocator, bytes, &memory))) return 0;
  return memory;
}
static inline void release(Api api, void *memory) {
  void *allocator = 0;
  if (!memory) return;
  failed(api, ORT(78, Status (*)(void **))(&allocator));
  failed(api, ORT(76, Status (*)(void *, void *))(allocator, memory));
}

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
