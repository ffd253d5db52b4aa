// The results of all engines in one table, in Markdown.

import { bandwidthShare } from './bandwidth-share.ts';
import type { DecodeTimes, PrefillTimes } from './measure-device.ts';

/** One engine on one model. */
export interface SpeedRow {
  readonly engine: string;
  readonly precision: string;
  readonly weightBytes: number;
  readonly decode: readonly DecodeTimes[];
  readonly prefill: readonly PrefillTimes[];
}

export interface ShapeRows {
  readonly shape: string;
  readonly parameterCount: number;
  readonly rows: readonly SpeedRow[];
}

export interface DeviceLimits {
  /** Of the device's memory, read and written. */
  readonly bytesPerSecond: number;
  /** Of float16 products. */
  readonly operationsPerSecond: number;
}

/**
 * Tokens per second. After decodes the share of the memory's speed that reading all weights once for each step takes; after prefills the
 * share of the speed of float16 products that two operations for each parameter and token take. Empty cells: not measured.
 */
export function speedTable(shapes: readonly ShapeRows[], limits: DeviceLimits): string {
  const all = shapes.flatMap(({ rows }) => rows);
  const streams = unique(all.flatMap(({ decode }) => decode.map(({ streamCount }) => streamCount)));
  const lengths = unique(all.flatMap(({ prefill }) => prefill.map(({ tokenCount }) => tokenCount)));
  const head = [
    'shape',
    'engine',
    'weights',
    ...streams.map(count => `decode, ${count} ${count === 1 ? 'stream' : 'streams'}`),
    ...lengths.map(count => `prefill, ${count.toLocaleString('en')}`),
  ];
  const cells = shapes.flatMap(({ shape, parameterCount, rows }) =>
    rows.map(({ engine, precision, weightBytes, decode, prefill }) => [
      shape,
      engine,
      precision,
      ...streams.map(count => {
        const times = decode.find(({ streamCount }) => streamCount === count);
        return (
          times && cell(times.tokensPerSecond, bandwidthShare(times, weightBytes, limits.bytesPerSecond))
        );
      }),
      ...lengths.map(count => {
        const times = prefill.find(({ tokenCount }) => tokenCount === count);
        const used = times && 2 * parameterCount * times.tokensPerSecond;
        return times && cell(times.tokensPerSecond, used! / limits.operationsPerSecond);
      }),
    ]),
  );
  const lines = [head, head.map(() => '---'), ...cells];
  return lines.map(line => `| ${line.map(text => text ?? '').join(' | ')} |\n`).join('');
}

function cell(tokensPerSecond: number, share: number): string {
  const digits = tokensPerSecond < 100 ? 1 : 0;
  const speed = tokensPerSecond.toLocaleString('en', { maximumFractionDigits: digits });
  return `${speed} (${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %)`;
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}
