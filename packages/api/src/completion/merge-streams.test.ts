import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { collect } from '../testing/index.ts';
import { mergeStreams } from './merge-streams.ts';

async function* emit<T>(items: readonly T[], delays: readonly number[] = []): AsyncGenerator<T, void> {
  for (const [index, item] of items.entries()) {
    for (let turn = 0; turn < (delays[index] ?? 0); turn++) await Promise.resolve();
    yield item;
  }
}

it('gives every item once, each generator in its own order, whatever they wait for', async () => {
  const stream = fc.record({
    items: fc.array(fc.integer(), { maxLength: 6 }),
    delays: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(stream, { maxLength: 5 }), async streams => {
      const stop = vi.fn();
      const sources = streams.map(({ items, delays }) => emit(items, delays));
      const merged = await collect(mergeStreams(sources, stop));
      for (const [place, { items }] of streams.entries())
        expect(merged.filter(({ index }) => index === place).map(({ value }) => value)).toEqual(items);
      expect(merged).toHaveLength(streams.flatMap(({ items }) => items).length);
      expect(stop).not.toHaveBeenCalled();
    }),
  );
});

it('asks a generator for no more than was taken from it', async () => {
  let given = 0;
  async function* count(): AsyncGenerator<number, void> {
    for (;;) yield given++;
  }
  for await (const { value } of mergeStreams([count()], () => undefined)) if (value === 5) break;
  expect(given).toBe(6);
});

it('ends the others when one fails, and throws its error', async () => {
  const stopping = new AbortController();
  let ended = false;
  async function* wait(): AsyncGenerator<string, void> {
    try {
      yield 'first';
      await new Promise((_resolve, reject) =>
        stopping.signal.addEventListener('abort', () => reject(new Error('stopped'))),
      );
    } finally {
      ended = true;
    }
  }
  async function* fail(): AsyncGenerator<string, void> {
    yield 'second';
    throw new Error('broken');
  }
  await expect(collect(mergeStreams([wait(), fail()], () => stopping.abort()))).rejects.toThrow('broken');
  expect(ended).toBe(true);
});

it('ends all when the reader leaves', async () => {
  const ended: number[] = [];
  async function* forever(id: number): AsyncGenerator<number, void> {
    try {
      for (;;) yield id;
    } finally {
      ended.push(id);
    }
  }
  const stop = vi.fn();
  for await (const _item of mergeStreams([forever(1), forever(2)], stop)) break;
  expect(ended.sort()).toEqual([1, 2]);
  expect(stop).toHaveBeenCalledOnce();
});
