// Workloads, and how throughput and latency follow from the times of the tokens.

import { median } from '../median.ts';
import { quantile } from '../quantile.ts';
import type { Timing, Work } from './contestant.ts';

export interface Measurement {
  readonly name: string;
  readonly unit: 'tokens/s' | 'ms';
  readonly isHigherBetter: boolean;
  /** Streams at once. */
  readonly streams: number;
  /** Tokens that one pass over the weights can serve. */
  readonly tokensPerPass: number;
  /** Work that is done before and not counted. */
  readonly before?: (draw: DrawPrompt) => Work;
  readonly work: (draw: DrawPrompt) => Work;
  readonly evaluate: (timing: Timing, work: Work) => number;
}

/** Token ids that no earlier prompt began with. */
export type DrawPrompt = (length: number) => number[];

const STREAM_COUNTS = [1, 2, 4, 8, 16];

export const MEASUREMENTS: readonly Measurement[] = [
  {
    name: 'decode, context 1,000',
    unit: 'tokens/s',
    isHigherBetter: true,
    streams: 1,
    tokensPerPass: 1,
    work: draw => ({ prompts: [draw(1000)], outputLength: 49 }),
    evaluate: ({ stamps }) => 1000 / median(gaps(stamps[0]!)),
  },
  ...STREAM_COUNTS.map(
    (count): Measurement => ({
      name: `${count} streams`,
      unit: 'tokens/s',
      isHigherBetter: true,
      streams: count,
      tokensPerPass: count,
      work: draw => ({ prompts: Array.from({ length: count }, () => draw(64)), outputLength: 64 }),
      evaluate: sharedThroughput,
    }),
  ),
  ...[256, 1000, 2048].map(
    (length): Measurement => ({
      name: `prefill ${length.toLocaleString('en')}`,
      unit: 'tokens/s',
      isHigherBetter: true,
      streams: 1,
      tokensPerPass: length,
      work: draw => ({ prompts: [draw(length)], outputLength: 1 }),
      evaluate: ({ stamps }) => (length * 1000) / stamps[0]![0]!,
    }),
  ),
  {
    name: 'first token, 2,000 cold',
    unit: 'ms',
    isHigherBetter: false,
    streams: 1,
    tokensPerPass: 2016,
    work: draw => ({ prompts: [draw(2016)], outputLength: 1 }),
    evaluate: ({ stamps }) => stamps[0]![0]!,
  },
  sharedPrefix(),
  mixedLoad('8 streams, p99 gap', false),
  mixedLoad('8 streams and a newcomer of 4,000 tokens, p99 gap', true),
];

function sharedPrefix(): Measurement {
  let prefix: number[] = [];
  const extend = (draw: DrawPrompt): Work => ({ prompts: [[...prefix, ...draw(16)]], outputLength: 1 });
  return {
    name: 'first token, 2,000 shared',
    unit: 'ms',
    isHigherBetter: false,
    streams: 1,
    tokensPerPass: 16,
    before: draw => {
      prefix = draw(2000);
      return extend(draw);
    },
    work: extend,
    evaluate: ({ stamps }) => stamps[0]![0]!,
  };
}

/**
 * The newcomer starts when the first stream has a few tokens; its own tokens do not count, nor do gaps in which the
 * prompts of the eight themselves are computed or some of them have ended.
 */
function mixedLoad(name: string, hasNewcomer: boolean): Measurement {
  return {
    name,
    unit: 'ms',
    isHigherBetter: false,
    streams: 8,
    tokensPerPass: 8,
    work: draw => ({
      prompts: [...Array.from({ length: 8 }, () => draw(64)), ...(hasNewcomer ? [draw(4000)] : [])],
      outputLength: 200,
      starts: hasNewcomer ? [0, 0, 0, 0, 0, 0, 0, 0, 40] : [],
    }),
    evaluate: ({ stamps }) => quantile(sharedStamps(stamps.slice(0, 8)).flatMap(gaps), 0.99),
  };
}

/** Tokens per second of all streams together while all of them decode. */
export function sharedThroughput({ stamps }: Timing): number {
  const from = Math.max(...stamps.map(times => times[0]!));
  const to = Math.min(...stamps.map(times => times.at(-1)!));
  // Streams that run one after the other never decode together: then the whole time counts.
  if (to <= from) {
    const count = stamps.reduce((sum, times) => sum + times.length, 0);
    return (count * 1000) / Math.max(...stamps.map(times => times.at(-1)!));
  }
  const count = stamps.flat().filter(time => time > from && time <= to).length;
  return (count * 1000) / (to - from);
}

/** The times at which all of the streams were decoding. */
function sharedStamps(stamps: readonly (readonly number[])[]): number[][] {
  const from = Math.max(...stamps.map(times => times[0]!));
  const to = Math.min(...stamps.map(times => times.at(-1)!));
  // Streams that run one after the other never decode together: then all times count.
  if (to <= from) return stamps.map(times => [...times]);
  return stamps.map(times => times.filter(time => time >= from && time <= to));
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - times[index]!);
}
