// Which instruction sets this CPU and operating system have.
#include "isa.h"

#if defined(__x86_64__)
typedef struct { uint32_t a, b, c, d; } Registers;

static Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(subleaf));
  return r;
}

/** Register states that the operating system saves. */
static uint64_t saved_states(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static int has(uint32_t word, int bit) { return word >> bit & 1; }

#if defined(__linux__)
/** Linux gives a process the registers of AMX when it asks for them: ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA. */
static int may_use_amx(void) {
  long result = 158; // arch_prctl
  __asm__ volatile("syscall" : "+a"(result) : "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
  return result == 0;
}
#endif

static int has_isa(const Isa *isa) {
  const Registers one = cpuid(1, 0);
  if (cpuid(0, 0).a < 7 || !has(one.c, 27)) return 0;
  const Registers seven = cpuid(7, 0);
  const uint64_t states = saved_states();
  // FMA, F16C, AVX2
  const int hasAvx2 = has(one.c, 12) && has(one.c, 29) && has(seven.b, 5) && (states & 6) == 6;
  if (isa == &isa_avx2) return hasAvx2;
#if !defined(__APPLE__)
  if (isa == &isa_avxvnni) return hasAvx2 && seven.a >= 1 && has(cpuid(7, 1).a, 4);
  // AVX-512 F, DQ, BW, VL, CD and VNNI
  const int hasAvx512 = hasAvx2 && (states & 0xe6) == 0xe6 && has(seven.b, 16) && has(seven.b, 17) && has(seven.b, 28) &&
                        has(seven.b, 30) && has(seven.b, 31) && has(seven.c, 11);
#if defined(__linux__)
  // AMX-TILE and AMX-INT8
  if (isa == &isa_amx) return hasAvx512 && (states & 0x60000) == 0x60000 && has(seven.d, 24) && has(seven.d, 25) && may_use_amx();
#endif
  return hasAvx512;
#else
  return 0;
#endif
}

#if defined(__APPLE__)
// No Mac has AVX-VNNI, and macOS saves the states of AVX-512 only for threads that have used them.
static const Isa *const CHOICES[] = {&isa_avx2};
#else
static const Isa *const CHOICES[] = {
#if defined(__linux__)
    &isa_amx,
#endif
    &isa_avx512, &isa_avxvnni, &isa_avx2};
#endif
#elif defined(__aarch64__)
static int has_isa(const Isa *isa) {
  (void)isa;
#if defined(__APPLE__)
  return 1; // every Mac with such a CPU
#elif defined(_WIN32)
  // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE of the page that Windows shares with every process
  return *(const volatile uint8_t *)(0x7ffe0000ull + 0x274 + 43);
#else
  // Linux answers for this register, which a program must not read itself: DP, bits 44 to 47.
  uint64_t features;
  __asm__("mrs %0, ID_AA64ISAR0_EL1" : "=r"(features));
  return (features >> 44 & 15) != 0;
#endif
}

static const Isa *const CHOICES[] = {&isa_neon};
#endif

const Isa *get_isa(int index) {
  for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++)
    if (has_isa(CHOICES[i]) && index-- == 0) return CHOICES[i];
  return 0;
}
