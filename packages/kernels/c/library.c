// What the library exports. The caller adds the operators to a domain of ONNX Runtime and the domain to its sessions.
#include "operators.h"

#ifndef SOURCE_HASH
#define SOURCE_HASH "development"
#endif

enum { OPERATORS = 9 };
enum { EMPTY = 0, FILLING = 1, FILLED = 2 };

/** Operators of one instruction set. */
typedef struct { int state; Operator operators[OPERATORS]; } Table;
static Table tables[MAX_ISAS];

/** Hash of the sources that this file was built from. */
EXPORT const char *ortler_kernels_hash(void) { return SOURCE_HASH; }

/** An instruction set of this CPU, the best one at 0; null behind the last one. */
EXPORT const char *ortler_kernels_isa(int index) {
  const Isa *isa = index < 0 ? 0 : get_isa(index);
  return isa ? isa->name : 0;
}

/** The structure of an operator that computes with `ortler_kernels_isa(isa)`, or null behind the last one. */
EXPORT const void *ortler_kernels_operator(int isa, int index) {
  if (isa < 0 || isa >= MAX_ISAS || !get_isa(isa) || index < 0 || index >= OPERATORS) return 0;
  Table *table = &tables[isa];
  // Several threads of a process may ask first; structures are never written once they were given out.
  int state = EMPTY;
  if (__atomic_compare_exchange_n(&table->state, &state, FILLING, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    describe_product(&table->operators[0]);
    describe_embedding(&table->operators[1]);
    describe_experts(&table->operators[5]);
    for (int type = 0; type < 3; type++) describe_attention(&table->operators[2 + type], type);
    describe_convolution(&table->operators[6]);
    describe_delta(&table->operators[7]);
    describe_mamba(&table->operators[8]);
    for (int i = 0; i < OPERATORS; i++) table->operators[i].isa = get_isa(isa);
    __atomic_store_n(&table->state, FILLED, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&table->state, __ATOMIC_ACQUIRE) != FILLED) {}
  return &table->operators[index];
}
