// Random shapes of operators on all instruction sets of this machine: `kernels-test product|experts|attention|states <cases> <seed>`.
// Prints the instruction sets and a number for all results, which is the same on all machines.
#include "memory.h"

#if defined(__x86_64__)
#define AVXVNNI (&isa_avxvnni)
#define HAS_AVX512 (get_isa(0) == &isa_avx512)
#else
#define AVXVNNI ((const Isa *)0)
#define HAS_AVX512 0
#endif

uint64_t checksum = 14695981039346656037ull;
const Isa *tested[4];
int tested_count;

static void add_isa(const Isa *isa) {
  if (!isa) return;
  tested[tested_count++] = isa;
  printf("%s ", isa->name);
}

int main(int count, char **arguments) {
  if (count != 4) FAIL("usage: kernels-test product|experts|attention|states <cases> <seed>");
  add_isa(&isa_plain);
  for (int i = 0; get_isa(i); i++)
    // Its instruction is tested in the encoding of AVX-512, which more machines have: isa-avxvnni-wide.c.
    if (get_isa(i) != AVXVNNI) add_isa(get_isa(i));
  if (HAS_AVX512) add_isa(AVXVNNI);
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
