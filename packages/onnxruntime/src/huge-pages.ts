// Memory in huge pages, in which the CPU looks up fewer addresses and fetches ahead across more of them. Linux gives them to memory
// that asks for them.

import koffi from 'koffi';
import { openLibrary } from './open-library.ts';
import { LARGEST_REUSED_BYTES } from './reused-memory.ts';

/** Size of a huge page on x64 and on arm64 with small pages of 4 KiB. */
const HUGE_PAGE_BYTES = 2 ** 21;

/** What is more than was asked for stays untouched. Other systems may count reserved memory as used. Unit: bytes. */
const LEAST_BYTES = process.platform === 'linux' ? LARGEST_REUSED_BYTES + 1 : 0;

/** Source: madvise(2). */
const MADV_HUGEPAGE = 14;

/**
 * Zeros from the start of a huge page on; a last part that fills no huge page is in small ones. Pages that nothing touches take no
 * memory. Throws: a `RangeError` where that much cannot be reserved.
 */
export function allocateInHugePages(byteLength: number): Uint8Array<ArrayBuffer> {
  const memory = new Uint8Array(Math.max(byteLength + HUGE_PAGE_BYTES, LEAST_BYTES));
  const address = Number(koffi.address(memory));
  const start = Math.ceil(address / HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES - address;
  const pages = memory.subarray(start, start + byteLength);
  adviseHugePages(pages);
  return pages;
}

/** Before the memory is touched first; without an effect where the system has no such call. */
function adviseHugePages(memory: Uint8Array): void {
  const byteLength = Math.floor(memory.byteLength / HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES;
  if (process.platform !== 'linux' || byteLength === 0) return;
  const library = openLibrary('libc.so.6') ?? openLibrary(`libc.musl-${MUSL_NAMES[process.arch] ?? ''}.so.1`);
  library?.func('madvise', 'int', ['void *', 'size_t', 'int'])(memory, byteLength, MADV_HUGEPAGE);
}

const MUSL_NAMES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
