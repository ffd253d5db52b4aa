// Bounds of numbers as llguidance takes them. Those of integers are rounded inwards to whole numbers: it fails on those that have
// none between them.

import { isList, type JsonValue } from '@ortler/json';

/** The greatest double below 2^63. */
const MOST = 2 ** 63 - 2 ** 10;

/** A bound that is too far away for 64 bits comes nearer: llguidance compiles none beyond. */
export function boundWithin64Bits(keyword: string, bound: number): number {
  if (/minimum$/i.test(keyword)) return Math.max(bound, -MOST);
  if (/maximum$/i.test(keyword)) return Math.min(bound, MOST);
  return bound;
}

/** Mutates: `out`. */
export function roundIntegerBounds(out: Record<string, JsonValue>): void {
  const types: readonly JsonValue[] = isList(out.type) ? out.type : [out.type ?? 'number'];
  if (!types.includes('integer') || types.includes('number')) return;
  round(out, { inclusive: 'minimum', exclusive: 'exclusiveMinimum', sign: 1 });
  round(out, { inclusive: 'maximum', exclusive: 'exclusiveMaximum', sign: -1 });
}

interface Bound {
  readonly inclusive: string;
  readonly exclusive: string;
  /** 1 for the least value, -1 for the greatest one. */
  readonly sign: 1 | -1;
}

function round(out: Record<string, JsonValue>, { inclusive, exclusive, sign }: Bound): void {
  const from = out[inclusive];
  const beyond = out[exclusive];
  const bounds: number[] = [];
  if (typeof from === 'number') bounds.push(Math.ceil(sign * from));
  if (typeof beyond === 'number') bounds.push(Math.floor(sign * beyond) + 1);
  // Past 2^53 the next whole number is not exact.
  if (bounds.length === 0 || !bounds.every(Number.isSafeInteger)) return;
  delete out[exclusive];
  // Of two zeros `+ 0` takes the one without a sign.
  out[inclusive] = sign * Math.max(...bounds) + 0;
}
