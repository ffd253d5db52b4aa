// CPU time and memory of a running process, as Linux counts them. Callers: benchmarks that start programs.

import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of the counters below; fixed on Linux. Unit: per second. */
const TICKS = 100;

/** Resident memory. Unit: bytes. */
export function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}

/** Processor time of all threads so far. Unit: milliseconds. */
export function processorMs(pid: number): number {
  const fields = statFields(pid);
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Processes that this one has started and that still run. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(child => parentOf(child) === pid);
}

function parentOf(pid: number): number | null {
  try {
    return Number(statFields(pid)[1]);
  } catch {
    // It has ended since the folder was read.
    return null;
  }
}

/** Fields behind the name, which may hold anything: the state is the first. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
