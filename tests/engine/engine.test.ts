// The engine with a real, if tiny, model: checkpoint, build, ONNX Runtime and every link.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type GenerationEvent,
  type GenerationRequest,
} from '@ortler/engine';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

let folder: string;
let sourceDir: string;
let modelDir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-tiny-'));
  sourceDir = join(folder, 'checkpoint');
  modelDir = join(folder, 'model');
  await createTinyCheckpoint(sourceDir);
  await buildModel({ sourceDir, outputDir: modelDir, precision: 'f32' });
});
afterAll(() => rm(folder, { recursive: true }));

const open: Engine[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(engine => engine.close()));
});

async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = await createEngine({ modelDir, threadCount: 1, maxSequences: 4, ...options });
  open.push(engine);
  return engine;
}

async function collect(events: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  const all: GenerationEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

function choiceOf(events: readonly GenerationEvent[], choiceIndex: number) {
  const own = events
    .filter(event => event.kind === 'token-delta')
    .filter(event => event.choiceIndex === choiceIndex);
  return {
    text: own.map(event => event.text).join(''),
    reasoning: own.map(event => event.reasoning).join(''),
    tokenIds: own.flatMap(event => event.tokenIds),
    finish: own.at(-1)?.finish,
  };
}

const chat = (content: string, more: Partial<GenerationRequest> = {}): GenerationRequest => ({
  prompt: { messages: [{ role: 'user', content }] },
  sampling: { seed: 11n },
  stop: { maxTokens: 24, ignoreEos: true },
  ...more,
});
const endless: GenerationRequest = chat('Hello', { stop: { maxTokens: 400, ignoreEos: true } });

describe('the engine with a tiny model', () => {
  /** The last of three answers over each of the options. */
  async function answersOf(settings: readonly Partial<EngineOptions>[]) {
    const answers = [];
    for (const options of settings) {
      const engine = await start(options);
      expect(engine.info).toMatchObject({ modelType: 'llama', precision: 'f32', eosTokenIds: [274, 272] });
      answers.push({
        backend: engine.info.backend,
        ...choiceOf(await collect(engine.generate(chat('Hello 日本 👍', { choiceCount: 3 }))), 2),
      });
      await engine.close();
    }
    for (const { tokenIds, text } of answers) {
      expect(tokenIds.length).toBe(24);
      expect({ tokenIds, text }).toEqual({ tokenIds: answers[0]!.tokenIds, text: answers[0]!.text });
    }
    return answers;
  }

  test('gives the same answers over every link', async () => {
    await answersOf([{ link: 'in-process' }, { link: 'worker' }, { link: 'process' }]);
  });

  test('gives the same answers with each backend', async () => {
    // onnxruntime-node's own API loads no operators of ours.
    const slotsDir = join(folder, 'slots');
    await buildModel({ sourceDir, outputDir: slotsDir, precision: 'f32', variant: 'slots' });
    const settings = (['node', 'native'] as const).map(backend => ({
      modelDir: slotsDir,
      tuning: { backend },
    }));
    const answers = await answersOf(settings);
    expect(answers.map(({ backend }) => backend)).toEqual(['node', 'native']);
  });

  test('joined deltas of many requests at once are what each gives alone', async () => {
    const engine = await start();
    const requests = Array.from({ length: 8 }, (_, i) =>
      chat(`Question ${i} 👩‍💻 ${'é'.repeat(i)}`, {
        sampling: { seed: BigInt(i) },
        choiceCount: 1 + (i % 3),
      }),
    );
    const together = await Promise.all(requests.map(request => collect(engine.generate(request))));
    for (const [i, request] of requests.entries()) {
      const alone = await collect(engine.generate(request));
      for (let index = 0; index < (request.choiceCount ?? 1); index++) {
        expect(choiceOf(together[i]!, index)).toEqual(choiceOf(alone, index));
      }
    }
  });

  test('answers other callers of this thread while a generation runs', async () => {
    const engine = await start();
    let turnCount = 0;
    const timer = setInterval(() => turnCount++, 1);
    let deltaCount = 0;
    for await (const event of engine.generate(endless)) if (event.kind === 'token-delta') deltaCount++;
    clearInterval(timer);
    expect(deltaCount).toBeGreaterThan(10);
    expect(turnCount).toBeGreaterThan(10);
    expect(engine.health.state).toBe('ready');
  });

  test('a caller that leaves frees its slot', async () => {
    const engine = await start();
    for await (const event of engine.generate(endless)) if (event.kind === 'token-delta') break;
    await collect(engine.generate(chat('Hi')));
    expect(engine.health.stats).toMatchObject({ runningCount: 0, waitingCount: 0, freeSlotCount: 4 });
  });

  test('a killed model process fails its open requests, is reported as it is, and is back for the next', async () => {
    const pids: number[] = [];
    const engine = await start({ link: 'process', onModelProcess: pid => pids.push(pid) });
    const before = choiceOf(await collect(engine.generate(chat('Hello'))), 0);
    const seen: GenerationEvent[] = [];
    await expect(async () => {
      for await (const event of engine.generate(endless)) {
        seen.push(event);
        if (seen.length === 3) process.kill(pids[0]!, 'SIGKILL');
      }
    }).rejects.toMatchObject({ code: 'engine_failed' });
    expect(seen[0]?.kind).toBe('prompt-ready');
    expect(engine.health).toMatchObject({
      state: 'restarting',
      restartCount: 0,
      lastError: { code: 'engine_failed' },
    });
    await expect(collect(engine.generate(chat('Hello')))).rejects.toMatchObject({
      code: 'model_unavailable',
      retryAfterMs: expect.any(Number),
    });
    while (engine.health.state !== 'ready') await new Promise(resolve => setTimeout(resolve, 10));
    expect(engine.health.restartCount).toBe(1);
    expect(choiceOf(await collect(engine.generate(chat('Hello'))), 0)).toEqual(before);
  });

  test('an unusable folder is refused at start', async () => {
    await expect(createEngine({ modelDir: join(folder, 'nothing') })).rejects.toMatchObject({
      code: 'model_invalid',
    });
    await expect(start({ contextLength: 1_000_000 })).rejects.toMatchObject({ code: 'model_invalid' });
  });
});
