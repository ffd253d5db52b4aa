import { EngineError } from '@ortler/engine';
import { describe, expect, it, vi } from 'vitest';
import { createFakeEngine, createFakeServices, type FakeEngineScript } from '../testing/index.ts';
import { RunningGeneration } from './running-generation.ts';

const request = { prompt: { text: 'a' } } as const;

function begin(script: FakeEngineScript = {}) {
  const engine = createFakeEngine(script);
  const services = createFakeServices({ demo: engine });
  const onEnd = vi.fn();
  const start = RunningGeneration.start(request, {
    services,
    caller: { principal: { keyId: 'k', team: 'acme' }, project: 'web' },
    engine,
    modelId: 'demo',
    startedAtMs: services.now(),
    signal: new AbortController().signal,
    toApiError: error => new Error('mapped', { cause: error }),
    onEnd,
  });
  return { engine, start, onEnd, reports: services.reports, usages: services.usages };
}

describe('RunningGeneration', () => {
  it('gives every event once, the first one included, and ends once', async () => {
    const { start, onEnd, reports } = begin({ pieces: ['a', 'b'] });
    const kinds: string[] = [];
    const generation = await start;
    for await (const { kind } of generation) kinds.push(kind);
    expect(kinds).toEqual(['prompt-ready', 'token-delta', 'token-delta', 'request-finish']);
    await generation.return();
    expect(onEnd).toHaveBeenCalledTimes(1);
    expect(reports).toMatchObject([
      { outcome: 'finished', completionTokenCount: 2, finishReasons: ['stop'] },
    ]);
  });

  it('records its usage before the end of its events', async () => {
    const { start, usages } = begin({ pieces: ['a', 'b'] });
    const generation = await start;
    for (let step = await generation.next(); step.done !== true; step = await generation.next())
      expect(usages).toEqual([]);
    expect(usages).toMatchObject([
      { keyId: 'k', team: 'acme', project: 'web', model: 'demo', requestCount: 1, outputTokenCount: 2 },
    ]);
    await generation.return();
    expect(usages).toHaveLength(1);
  });

  it('records what was used until it was left, and nothing of what never ran', async () => {
    const left = begin({ pieces: ['a', 'b', 'c'] });
    const generation = await left.start;
    await generation.next();
    await generation.next();
    await generation.return();
    expect(left.usages).toMatchObject([{ requestCount: 1, outputTokenCount: 1 }]);
    const refused = begin({ refuse: new EngineError('overloaded', 'full') });
    await refused.start.catch(() => undefined);
    expect(refused.usages).toEqual([]);
  });

  it('throws a refusal at the start, reports it and ends', async () => {
    const { start, onEnd, reports } = begin({ refuse: new EngineError('overloaded', 'full') });
    await expect(start).rejects.toThrow('mapped');
    expect(onEnd).toHaveBeenCalledTimes(1);
    expect(reports).toMatchObject([{ outcome: 'refused' }]);
  });

  it('maps a later failure, reports it and ends', async () => {
    const error = new EngineError('engine_failed', 'broken');
    const { start, onEnd, reports } = begin({ failAt: { tokenNumber: 1, error } });
    const generation = await start;
    await generation.next();
    await generation.next();
    await expect(generation.next()).rejects.toMatchObject({ message: 'mapped', cause: error });
    expect(await generation.next()).toEqual({ done: true, value: undefined });
    expect(onEnd).toHaveBeenCalledTimes(1);
    expect(reports).toMatchObject([{ outcome: 'failed', completionTokenCount: 1 }]);
  });

  it('aborts the engine when it is left before an event was read, and reports that', async () => {
    const { engine, start, onEnd, reports } = begin();
    const generation = await start;
    await generation.return();
    expect(await generation.next()).toEqual({ done: true, value: undefined });
    expect(engine.abortedCount).toBe(1);
    expect(onEnd).toHaveBeenCalledTimes(1);
    expect(reports).toMatchObject([{ outcome: 'aborted' }]);
  });
});
