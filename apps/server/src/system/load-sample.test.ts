import { createFakeServices } from '@ortler/api/testing';
import { expect, it } from 'vitest';
import { toLoadSample } from './load-sample.ts';
import { createMetrics } from './metrics.ts';

const REPORT = {
  outcome: 'finished',
  finishReasons: ['stop'],
  promptTokenCount: 7,
  completionTokenCount: 3,
  choiceCount: 1,
  longestChoiceTokenCount: 3,
  durationMs: 500,
  firstTokenMs: 40,
  tokenGapsMs: [30, 20],
  timing: null,
  decodeMs: null,
  maxTokens: null,
} as const;

it('holds the load and the counters of each model, and the answered requests', async () => {
  const { models } = createFakeServices();
  const id = models.defaultModelId;
  const metrics = createMetrics(models);
  metrics.tokensGenerated(id, 2);
  metrics.tokensGenerated(id, 1);
  metrics.generationEnded({ modelId: id, ...REPORT });
  metrics.requestAnswered({ method: 'GET', handler: '/v1/models', status: 404, durationMs: 5 });
  const sample = toLoadSample(await metrics.readSeries(), 5);
  expect(sample).toMatchObject({
    atMs: 5,
    residentBytes: expect.any(Number),
    routes: [{ method: 'GET', route: '/v1/models', status: '4xx', count: 1 }],
    models: [
      {
        id,
        runningCount: 0,
        promptTokenCount: 7,
        generatedTokenCount: 3,
        firstToken: { count: 1, sum: 0.04 },
      },
    ],
  });
  const { bounds, counts } = sample.models[0]!.tokenGap;
  expect(bounds).toHaveLength(counts.length);
  // Both gaps, of 30 and 20 ms, are within 50 ms, one of them within 25 ms.
  expect([counts[bounds.indexOf(0.025)], counts[bounds.indexOf(0.05)], counts.at(-1)]).toEqual([1, 2, 2]);
});

it('has a model before its first request', async () => {
  const { models } = createFakeServices();
  const sample = toLoadSample(await createMetrics(models).readSeries(), 0);
  expect(sample.models).toMatchObject([
    { id: models.defaultModelId, generatedTokenCount: 0, firstToken: { count: 0 } },
  ]);
});
