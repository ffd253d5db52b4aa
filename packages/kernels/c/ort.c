// Calls of ONNX Runtime's C API.
#include "ort.h"

int64_t int_attribute(Api api, Info *info, const char *name, int64_t otherwise) {
  int64_t value = 0;
  return failed(api, ORT(86, Status (*)(Info *, const char *, int64_t *))(info, name, &value)) ? otherwise : value;
}

float float_attribute(Api api, Info *info, const char *name, float otherwise) {
  float value = 0;
  return failed(api, ORT(85, Status (*)(Info *, const char *, float *))(info, name, &value)) ? otherwise : value;
}

int int_attributes(Api api, Info *info, const char *name, int64_t *values, size_t limit) {
  size_t count = limit;
  typedef Status (*Get)(Info *, const char *, int64_t *, size_t *);
  size_t length = 0;
  if (failed(api, ORT(163, Get)(info, name, 0, &length))) return 0;
  if (length > limit) return -1;
  count = length;
  return failed(api, ORT(163, Get)(info, name, values, &count)) ? 0 : (int)count;
}

static void read_shape(Api api, const void *value, Tensor *tensor) {
  void *info = 0;
  failed(api, ORT(65, Status (*)(const void *, void **))(value, &info));
  failed(api, ORT(61, Status (*)(void *, size_t *))(info, &tensor->rank));
  if (tensor->rank <= MAX_RANK) failed(api, ORT(62, Status (*)(void *, int64_t *, size_t))(info, tensor->shape, tensor->rank));
  ORT(99, void (*)(void *))(info);
}

Tensor input(Api api, Context *context, size_t index) {
  Tensor tensor = {0};
  const void *value = 0;
  if (failed(api, ORT(90, Status (*)(Context *, size_t, const void **))(context, index, &value)) || !value) return tensor;
  failed(api, ORT(51, Status (*)(const void *, void **))(value, &tensor.data));
  read_shape(api, value, &tensor);
  return tensor;
}

Tensor constant_input(Api api, Info *info, size_t index) {
  Tensor tensor = {0};
  const void *value = 0;
  int is_constant = 0;
  typedef Status (*Get)(Info *, size_t, int *, const void **);
  if (failed(api, ORT(249, Get)(info, index, &is_constant, &value)) || !is_constant || !value) return tensor;
  failed(api, ORT(51, Status (*)(const void *, void **))(value, &tensor.data));
  read_shape(api, value, &tensor);
  return tensor;
}

int is_given(Api api, Info *info, size_t index) {
  size_t length = 0;
  typedef Status (*Get)(Info *, size_t, char *, size_t *);
  // With its zero byte; inputs that are left out have an empty name.
  return !failed(api, ORT(232, Get)(info, index, 0, &length)) && length > 1;
}

void *output(Api api, Context *context, size_t index, const int64_t *shape, size_t rank) {
  void *value = 0, *data = 0;
  typedef Status (*Get)(Context *, size_t, const int64_t *, size_t, void **);
  if (failed(api, ORT(91, Get)(context, index, shape, rank, &value)) || !value) return 0;
  failed(api, ORT(51, Status (*)(void *, void **))(value, &data));
  return data;
}

void parallel(Api api, Context *context, void (*work)(void *, size_t), size_t count, void *data) {
  typedef Status (*Run)(Context *, void (*)(void *, size_t), size_t, size_t, void *);
  if (count == 1) work(data, 0);
  else if (count > 1) failed(api, ORT(274, Run)(context, work, count, 0, data));
}

void *allocate(Api api, size_t bytes) {
  void *allocator = 0, *memory = 0;
  failed(api, ORT(78, Status (*)(void **))(&allocator));
  if (failed(api, ORT(75, Status (*)(void *, size_t, void **))(allocator, bytes, &memory))) return 0;
  return memory;
}

void release(Api api, void *memory) {
  void *allocator = 0;
  if (!memory) return;
  failed(api, ORT(78, Status (*)(void **))(&allocator));
  failed(api, ORT(76, Status (*)(void *, void *))(allocator, memory));
}
