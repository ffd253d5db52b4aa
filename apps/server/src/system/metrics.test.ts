import { createFakeEngine, createFakeServices } from '@ortler/api/testing';
import { expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

const REPORT = {
  modelId: 'acme/default/clerk:step1',
  outcome: 'finished',
  finishReasons: ['stop'],
  promptTokenCount: 3,
  completionTokenCount: 5,
  choiceCount: 1,
  maxTokens: 64,
  longestChoiceTokenCount: 5,
  durationMs: 10,
  firstTokenMs: 2,
  tokenGapsMs: [1],
  timing: null,
  decodeMs: null,
} as const;

it('removes the series of a checkpoint some time after it was unloaded, and of no other model', async () => {
  let nowMs = 0;
  let loaded = [{ name: REPORT.modelId, engine: createFakeEngine() }];
  const metrics = createMetrics(createFakeServices().models, { list: () => loaded }, { now: () => nowMs });
  metrics.generationEnded(REPORT);
  const seriesOf = async (name: string) =>
    (await metrics.render()).split('\n').filter(line => line.includes(`model_name="${name}"`)).length;
  const before = await seriesOf(REPORT.modelId);
  expect(before).toBeGreaterThan(100);
  loaded = [];
  expect(await seriesOf(REPORT.modelId)).toBeGreaterThan(100);
  nowMs = 599_999;
  expect(await seriesOf(REPORT.modelId)).toBeGreaterThan(100);
  nowMs = 600_000;
  await metrics.render();
  expect(await seriesOf(REPORT.modelId)).toBe(0);
  expect(await seriesOf('demo')).toBeGreaterThan(100);
  loaded = [{ name: REPORT.modelId, engine: createFakeEngine() }];
  metrics.generationEnded(REPORT);
  expect(await seriesOf(REPORT.modelId)).toBe(before);
});

it('has no names of checkpoints where everyone may read it', async () => {
  const others = ['acme/default/clerk:step1', 'beta/default/clerk:step1'].map(name => ({
    name,
    engine: createFakeEngine(),
  }));
  const metrics = createMetrics(
    createFakeServices().models,
    { list: () => others },
    { namesCheckpoints: false },
  );
  for (const { name } of others) metrics.generationEnded({ ...REPORT, modelId: name });
  const text = await metrics.render();
  expect(text).not.toMatch(/acme|beta/);
  expect(text).toContain('vllm:generation_tokens_total{model_name="checkpoints",engine="0"} 10');
  expect(text).toContain('vllm:num_requests_running{model_name="demo"');
});

it('describes caches, loaded checkpoints and sizes of steps under the names of vLLM', async () => {
  const stats = createFakeEngine().health.stats;
  const stepSizes = { counts: [3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], tokenCount: 20_000 };
  const engine = createFakeEngine({
    info: { runner: 'slots', kvType: 'float16' },
    health: { stats: { ...stats, runningCount: 1, stepSizes } },
  });
  const others = { list: () => [{ name: REPORT.modelId, engine }] };
  const metrics = createMetrics(createFakeServices({ demo: engine }).models, others, { maxCheckpoints: 2 });
  metrics.generationEnded(REPORT);
  const text = await metrics.render();
  expect(text).toContain(
    'vllm:cache_config_info{model_name="demo",engine="0",cache_dtype="float16",block_size="16",num_gpu_blocks="64",enable_prefix_caching="True",max_num_seqs="4",max_model_len="256"} 1',
  );
  expect(text).toContain(
    `vllm:lora_requests_info{max_lora="2",running_lora_adapters="${REPORT.modelId}",waiting_lora_adapters=""}`,
  );
  const labels = 'model_name="demo",engine="0"';
  expect(text).toContain(`vllm:iteration_tokens_total_bucket{le="1",${labels}} 3`);
  expect(text).toContain(`vllm:iteration_tokens_total_bucket{le="16384",${labels}} 5`);
  expect(text).toContain(`vllm:iteration_tokens_total_bucket{le="+Inf",${labels}} 6`);
  expect(text).toContain(`vllm:iteration_tokens_total_sum{${labels}} 20000`);
  expect(text).toContain(`vllm:request_params_n_count{model_name="${REPORT.modelId}",engine="0"} 1`);
  expect(text).toContain(`vllm:request_params_max_tokens_sum{model_name="${REPORT.modelId}",engine="0"} 64`);
});

it('counts ended choices under the reasons of vLLM, whatever words other servers have', async () => {
  const metrics = createMetrics(createFakeServices().models);
  const finishReasons = ['tool-calls', 'tool_calls', 'length', 'content_filter', 'whim 1', 'whim 2'];
  metrics.generationEnded({ ...REPORT, modelId: 'demo', finishReasons });
  const counts = [...(await metrics.render()).matchAll(/finished_reason="(.+)"\} ([1-9])/g)];
  expect(counts.map(([, reason, count]) => [reason, count])).toEqual([
    ['stop', '2'],
    ['length', '1'],
    ['other', '3'],
  ]);
});
