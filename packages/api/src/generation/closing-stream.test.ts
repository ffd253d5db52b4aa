import { describe, expect, it, vi } from 'vitest';
import { closingStream } from './closing-stream.ts';

async function* words(): AsyncGenerator<string, void, undefined> {
  yield 'ab';
  yield '';
  yield 'c';
}

const letters = (onClose = vi.fn()) => closingStream(words(), { write: word => [...word], onClose });

describe('closingStream', () => {
  it('gives the items of every event in order, and closes once at the end', async () => {
    const onClose = vi.fn();
    const stream = letters(onClose);
    const seen: string[] = [];
    for await (const letter of stream) seen.push(letter);
    expect(seen).toEqual(['a', 'b', 'c']);
    await stream.return();
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it('gives the items in order to calls that do not wait for each other', async () => {
    const stream = letters();
    const steps = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
    expect(steps.map(({ value }) => value)).toEqual(['a', 'b', 'c', undefined]);
  });

  it('closes when it is left before anything was read', async () => {
    const onClose = vi.fn();
    await letters(onClose).return();
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it('leaves the events with it, and gives nothing more', async () => {
    const left = vi.fn();
    async function* endless(): AsyncGenerator<string, void, undefined> {
      try {
        for (;;) yield 'ab';
      } finally {
        left();
      }
    }
    const stream = closingStream(endless(), { write: word => [...word] });
    await stream.next();
    await stream.return();
    expect(left).toHaveBeenCalledTimes(1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('closes when the items fail', async () => {
    const onClose = vi.fn();
    const stream = letters(onClose);
    await stream.next();
    await expect(stream.throw(new Error('broken'))).rejects.toThrow('broken');
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it('closes when the events fail, and gives what they fail with', async () => {
    const onClose = vi.fn();
    // biome-ignore lint/correctness/useYield: it fails before its first event
    async function* failing(): AsyncGenerator<string, void, undefined> {
      throw new Error('broken');
    }
    const stream = closingStream(failing(), { write: word => [...word], onClose });
    await expect(stream.next()).rejects.toThrow('broken');
    expect(onClose).toHaveBeenCalledTimes(1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});
