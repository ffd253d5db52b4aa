// Random shapes of operators on all instruction sets of this machine: `kernels-test product|experts|attention|states <cases> <seed>`.
// Prints the instruction sets and a number for all results, which is the same on all machines.
#include "memory.h"

/** Compiled so that every machine with AVX-512 runs them: isa-avxvnni-wide.c, isa-amx-emulated.c. */
#if defined(__x86_64__)
static const Isa *const WITH_AVX512[] = {&isa_avx512, &isa_avxvnni, &isa_amx};
#else
static const Isa *const WITH_AVX512[] = {};
#endif
enum { WITH_AVX512_COUNT = sizeof WITH_AVX512 / sizeof *WITH_AVX512 };

uint64_t checksum = 14695981039346656037ull;
const Isa *tested[5];
int tested_count;

static void add_isa(const Isa *isa) {
  for (int i = 0; i < tested_count; i++) if (tested[i] == isa) return;
  tested[tested_count++] = isa;
  printf("%s ", isa->name);
}

int main(int count, char **arguments) {
  if (count != 4) FAIL("usage: kernels-test product|experts|attention|states <cases> <seed>");
  add_isa(&isa_plain);
  int has_avx512 = 0;
  for (int i = 0; get_isa(i); i++) {
    int needs_avx512 = 0;
    for (int j = 0; j < WITH_AVX512_COUNT; j++) needs_avx512 |= get_isa(i) == WITH_AVX512[j];
    if (WITH_AVX512_COUNT > 0 && get_isa(i) == WITH_AVX512[0]) has_avx512 = 1;
    if (!needs_avx512) add_isa(get_isa(i));
  }
  for (int j = 0; has_avx512 && j < WITH_AVX512_COUNT; j++) add_isa(WITH_AVX512[j]);
  const int cases = atoi(arguments[2]), seed = atoi(arguments[3]);
  for (int i = 0; i < cases; i++) {
    // One line behind a failure says which case to repeat.
    Random random = {(uint64_t)(seed + i) * 0x9e3779b97f4a7c15ull + 1};
    for (int j = 0; j < 4; j++) random_int(&random, 0, 1);
    if (strcmp(arguments[1], "product") == 0) test_product(&random);
    else if (strcmp(arguments[1], "experts") == 0) test_experts(&random);
    else if (strcmp(arguments[1], "states") == 0) test_states(&random);
    else test_attention(&random);
  }
  printf("%016llx\n", (unsigned long long)checksum);
  return 0;
}
