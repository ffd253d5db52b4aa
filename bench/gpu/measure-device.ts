// Times of a model through its engine, as a client of one process sees them.

import type { Engine } from '@ortler/engine';

export interface DecodeTimes {
  readonly streamCount: number;
  /** All streams together, from the moment the last one has its first token to the end of the first. */
  readonly tokensPerSecond: number;
}

export interface PrefillTimes {
  readonly tokenCount: number;
  readonly tokensPerSecond: number;
}

export const DECODE_PROMPT_LENGTH = 64;

/**
 * Streams of the same length that run together. Prompts differ, so that nothing is shared. Null: there was no moment in which all
 * of them ran, because the first ended before the last began.
 */
export async function measureDecode(
  engine: Engine,
  streamCount: number,
  length: number,
): Promise<DecodeTimes | null> {
  const firsts: number[] = [];
  const ends: number[] = [];
  const times: number[][] = [];
  await Promise.all(
    Array.from({ length: streamCount }, async (_, stream) => {
      const seen: number[] = [];
      times.push(seen);
      const prompt = promptOf(engine, stream, DECODE_PROMPT_LENGTH);
      for await (const tokenIds of newTokens(engine, prompt, length))
        for (const _ of tokenIds) seen.push(performance.now());
      firsts.push(seen[0]!);
      ends.push(seen.at(-1)!);
    }),
  );
  const start = Math.max(...firsts);
  const end = Math.min(...ends);
  if (end <= start) return null;
  const count = times.flat().filter(time => time > start && time <= end).length;
  return { streamCount, tokensPerSecond: (count * 1000) / (end - start) };
}

/** The first tokens after the prompt of the first stream. */
export async function greedyTokens(engine: Engine, promptLength: number, length: number): Promise<number[]> {
  const found: number[] = [];
  for await (const tokenIds of newTokens(engine, promptOf(engine, 0, promptLength), length))
    found.push(...tokenIds);
  return found;
}

/** One prompt, to its first token; the median of some. */
export async function measurePrefill(
  engine: Engine,
  tokenCount: number,
  rounds: number,
): Promise<PrefillTimes> {
  const milliseconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for await (const _ of newTokens(engine, promptOf(engine, 1000 + round, tokenCount), 1));
    milliseconds.push(performance.now() - start);
  }
  milliseconds.sort((a, b) => a - b);
  return { tokenCount, tokensPerSecond: (tokenCount * 1000) / milliseconds[rounds >> 1]! };
}

async function* newTokens(
  engine: Engine,
  tokenIds: readonly number[],
  length: number,
): AsyncGenerator<readonly number[]> {
  const events = engine.generate({
    prompt: { tokenIds },
    sampling: { temperature: 0 },
    stop: { maxTokens: length, ignoreEos: true },
  });
  for await (const event of events)
    if ('tokenIds' in event && event.tokenIds.length > 0) yield event.tokenIds;
}

function promptOf(engine: Engine, seed: number, length: number): readonly number[] {
  return Array.from({ length }, (_, i) => (i * 7919 + seed * 104_729 + 17) % engine.info.vocabSize);
}
