import { describe, expect, test } from 'vitest';
import { EngineError } from '../errors.ts';
import { askAll } from './ask-all.ts';

const full = () => new EngineError('overloaded', 'No room.', { retryAfterMs: 7 });

/** Answers at most `room` questions of a round, in which all are asked before one is answered. */
function answerer(room: () => number) {
  const asked: number[] = [];
  let underWay = 0;
  const ask = async (question: number): Promise<number> => {
    asked.push(question);
    if (underWay >= room()) throw full();
    underWay++;
    await Promise.resolve();
    underWay--;
    return question * 10;
  };
  return { asked, ask };
}

describe('askAll', () => {
  test('asks all at once and keeps their order', async () => {
    const { ask, asked } = answerer(() => 3);
    expect(await askAll([3, 1, 2], ask, null)).toEqual([30, 10, 20]);
    expect(asked).toEqual([3, 1, 2]);
  });

  test('asks those that found no room again, and never one that was answered', async () => {
    const { ask, asked } = answerer(() => 1);
    const pauses: number[] = [];
    const pause = async (ms: number) => void pauses.push(ms);
    expect(await askAll([1, 2, 3], ask, pause)).toEqual([10, 20, 30]);
    expect(asked).toEqual([1, 2, 3, 2, 3, 3]);
    expect(pauses).toEqual([]);
  });

  test('pauses as long as the refusal says while no one is answered', async () => {
    let room = 0;
    const { ask } = answerer(() => room);
    const pauses: number[] = [];
    const pause = async (ms: number) => {
      pauses.push(ms);
      if (pauses.length === 2) room = 2;
    };
    expect(await askAll([1, 2], ask, pause)).toEqual([10, 20]);
    expect(pauses).toEqual([7, 7]);
  });

  test('fails with a refusal where it may not wait, and with any other failure', async () => {
    const { ask } = answerer(() => 1);
    await expect(askAll([1, 2], ask, null)).rejects.toMatchObject({ code: 'overloaded' });
    const broken = async () => Promise.reject(new EngineError('engine_failed', 'Broken.'));
    await expect(askAll([1], broken, async () => undefined)).rejects.toMatchObject({ code: 'engine_failed' });
  });
});
