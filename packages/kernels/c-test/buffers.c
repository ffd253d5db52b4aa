// Buffers of exact size. The address sanitiser guards its own; elsewhere a page without access follows each.
#include "memory.h"
#include <sys/mman.h>

enum { PAGE_BYTES = 65536, MAX_BUFFERS = 4096 };

#if !defined(SANITISED)
static struct { void *buffer; uint8_t *pages; size_t bytes; } known[MAX_BUFFERS];

void *new_buffer(size_t bytes) {
  const size_t pages = round_up(bytes, PAGE_BYTES), all = pages + PAGE_BYTES;
  uint8_t *memory = mmap(0, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + pages, PAGE_BYTES, PROT_NONE)) FAIL("There is no memory.");
  uint8_t *buffer = memory + (pages - round_up(bytes, 4));
  memset(buffer, 0xff, bytes);
  for (int i = 0; i < MAX_BUFFERS; i++)
    if (!known[i].buffer) {
      known[i].buffer = buffer, known[i].pages = memory, known[i].bytes = all;
      return buffer;
    }
  FAIL("There are too many buffers.");
}

void free_buffer(void *buffer) {
  for (int i = 0; buffer && i < MAX_BUFFERS; i++)
    if (known[i].buffer == buffer) {
      munmap(known[i].pages, known[i].bytes);
      known[i].buffer = 0;
      return;
    }
}
#else
void *new_buffer(size_t bytes) {
  void *buffer = malloc(bytes ? bytes : 1);
  if (!buffer) FAIL("There is no memory.");
  memset(buffer, 0xff, bytes);
  return buffer;
}

void free_buffer(void *buffer) { free(buffer); }
#endif
