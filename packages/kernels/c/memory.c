// The functions that compilers call without being asked, and what Windows wants of a library without its runtime.
#include "base.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  uint8_t *a = to;
  const uint8_t *b = from;
  while (bytes--) *a++ = *b++;
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  uint8_t *a = to;
  while (bytes--) *a++ = (uint8_t)value;
  return to;
}

#if defined(__APPLE__)
// Takes the place of memset with zeroes there, under a name for each processor.
#if defined(__x86_64__)
void __bzero(void *to, size_t bytes) {
#else
void bzero(void *to, size_t bytes) {
#endif
  uint8_t *a = to;
  while (bytes--) *a++ = 0;
}
#endif

#if defined(_WIN32)
int _fltused;
int DllMainCRTStartup(void *library, unsigned reason, void *reserved) {
  (void)library, (void)reason, (void)reserved;
  return 1;
}

// Windows grows a stack by the one page below it that a thread touches. A function with a larger frame begins with a call of
// this one, which touches each page of the frame in order and changes no register that the caller uses.
#if defined(__x86_64__)
// The frame's size is in rax; `probe` walks down from the stack as it was before the call.
__asm__(
    ".globl ___chkstk_ms\n"
    "___chkstk_ms:\n"
    "  pushq %rax\n"
    "  pushq %rcx\n"
    "  leaq 24(%rsp), %rcx\n"
    "1:\n"
    "  subq $4096, %rcx\n"
    "  orl $0, (%rcx)\n"
    "  subq $4096, %rax\n"
    "  ja 1b\n"
    "  popq %rcx\n"
    "  popq %rax\n"
    "  ret\n");
#elif defined(__aarch64__)
// The frame's size over 16 is in x15; x16 and x17 are free.
__asm__(
    ".globl __chkstk\n"
    "__chkstk:\n"
    "  lsl x16, x15, #4\n"
    "  mov x17, sp\n"
    "1:\n"
    "  sub x17, x17, #4096\n"
    "  ldr xzr, [x17]\n"
    "  subs x16, x16, #4096\n"
    "  b.hi 1b\n"
    "  ret\n");
#endif
#endif
